"""The health of a broker after cases: a probe, its process, its log and its memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.observation import Death, Observation, Probe
from barnabas.fuzz.targets.blame import Trouble
from barnabas.fuzz.targets.canary import Canary
from barnabas.fuzz.targets.log_attribution import Unattributed, attribute_entries
from barnabas.fuzz.targets.log_entries import (
    LoggedEntry,
    connection_of,
    join_pieces,
    without_surplus,
)
from barnabas.fuzz.targets.prober import Prober
from barnabas.fuzz.targets.service import Elsewhere, Service

DYING_S: Final = 2.0
"""Seconds that a process which no longer answers may take to end."""

UnderWay = Callable[[int | None, int | None], bool]
"""Returns whether a case in flight has this client port or, without a port, this correlation id."""


def _nobody(port: int | None, correlation_id: int | None) -> bool:
    return False


class HealthCheck:
    """The health of one broker, looked at after each batch of cases."""

    def __init__(self, service: Service, prober: Prober) -> None:
        self.canary = Canary(prober)
        self.unattributed = Unattributed()
        self.wrong: Trouble | None = None
        """The trouble of the last look that no single case shows."""
        self.unanswered = False
        """Whether the broker left the latest probe unanswered."""
        self._service = service
        self._prober = prober
        self._held: tuple[str, ...] = ()
        """Log entries about cases in flight."""
        self._rss: tuple[int, int] | None = None
        self._heap: tuple[int, int] | None = None

    def reset(self) -> None:
        """Forget the trouble: the broker is well."""
        self.wrong, self.unanswered = None, False

    def begin(self) -> None:
        """Measure the broker's memory before cases are sent."""
        self._held = ()
        self._rss, self._heap = self._service.rss(), self._service.heap()

    def look(
        self,
        observations: list[Observation],
        logged: Sequence[LoggedEntry],
        under_way: UnderWay = _nobody,
        *,
        alone: bool = False,
    ) -> list[Observation]:
        """Probe the broker and add to each observation the log entries of its case.

        Args:
            observations: The observations of the cases that are over.
            logged: The entries that the log gained while the cases were sent.
            under_way: Tells which entries are about cases in flight.
            alone: There was one case only, so that entries without a client are its own.
        """
        probe = self._prober.probe(self.canary.question, self.canary.problem)
        death = self.death(probe)
        before, self._rss = self._rss, self._service.rss()
        heap_before, self._heap = self._heap, self._service.heap()
        entries = without_surplus(join_pieces((*logged, *map(LoggedEntry, self._service.log()))))
        observations, log = attribute_entries(
            observations, (*self._held, *(logged.entry for logged in entries))
        )
        self._held = tuple(entry for entry in log if under_way(*connection_of(entry)))
        nobodys = tuple(entry for entry in log if entry not in self._held)
        new = tuple(entry for entry in nobodys if self.unattributed.is_searched(entry))
        rss = (before[0], self._rss[1]) if before and self._rss else None
        heap = (heap_before[0], self._heap[1]) if heap_before and self._heap else None
        near = dict(entries)
        nearest = tuple(near.get(entry, ()) for entry in new)
        wrong = Trouble(probe, death, new, rss, heap, nearest)
        self.wrong = wrong if wrong.alone or wrong.slow else None
        if len(observations) == 1:
            observations = [replace(observations[0], probe=probe, rss=rss, heap=heap)]
        if alone:
            known_entries = tuple(entry for entry in nobodys if entry not in new)
            observations = [replace(observations[0], log=observations[0].log + known_entries)]
        return observations

    def death(self, probe: Probe) -> Death | None:
        """Return how the broker's process ended, or None.

        After the first of several unanswered probes, wait up to DYING_S seconds for the process to end.
        """
        if isinstance(self._service, Elsewhere):
            return None if probe.answered else self._service.death()
        death = self._service.death()
        deadline = time.monotonic() + (0 if probe.answered or self.unanswered else DYING_S)
        self.unanswered = not probe.answered
        while death is None and time.monotonic() < deadline:
            time.sleep(0.05)
            death = self._service.death()
        return death

    def remains(self, wrong: Trouble) -> bool:
        """Return whether part of a trouble was not shown by one case alone yet."""
        log = tuple(entry for entry in wrong.log if self.unattributed.is_searched(entry))
        wrong = replace(wrong, log=log)
        return wrong.alone or wrong.slow
