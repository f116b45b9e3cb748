"""What is wrong with a broker behind cases: by a probe, its process, its log and its memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.targets.attributing import attributed
from barnabas.fuzz.targets.blame import Trouble
from barnabas.fuzz.targets.canary import Canary
from barnabas.fuzz.targets.entries import Logged, about, fewer, whole
from barnabas.fuzz.targets.probing import Prober
from barnabas.fuzz.targets.revival import Revival
from barnabas.fuzz.targets.service import Service
from barnabas.fuzz.targets.unattributed import Unattributed

UnderWay = Callable[[int | None, int | None], bool]
"""Whether an entry of the log, by its port and correlation id, is about a case that is not over yet."""


def _nobody(port: int | None, correlation_id: int | None) -> bool:
    return False


class Watch:
    """Looks at one broker."""

    def __init__(self, service: Service, prober: Prober, revival: Revival) -> None:
        self.canary = Canary(prober)
        self.unattributed = Unattributed()
        self.wrong: Trouble | None = None
        """What the last look found that no case shows by itself."""
        self._service = service
        self._prober = prober
        self._revival = revival
        self._held: tuple[str, ...] = ()
        """Entries of the log about cases that are under way."""
        self._rss: tuple[int, int] | None = None
        self._heap: tuple[int, int] | None = None

    def begin(self) -> None:
        """Cases are about to be sent."""
        self._held = ()
        self._rss, self._heap = self._service.rss(), self._service.heap()

    def look(
        self,
        found: list[Observation],
        logged: Sequence[Logged],
        under_way: UnderWay = _nobody,
        *,
        alone: bool = False,
    ) -> list[Observation]:
        """A probe behind cases, and what it tells of each. logged: what the log gained while they were sent.
        alone: it is one case, so that entries which name nobody are its own, known or not."""
        probe = self._prober.probe(self.canary.question, self.canary.problem)
        death = self._revival.death(probe)
        before, self._rss = self._rss, self._service.rss()
        heap_before, self._heap = self._heap, self._service.heap()
        entries = fewer(whole((*logged, *map(Logged, self._service.log()))))
        found, log = attributed(found, (*self._held, *(one.entry for one in entries)))
        self._held = tuple(entry for entry in log if under_way(*about(entry)))
        nobodys = tuple(entry for entry in log if entry not in self._held)
        new = tuple(entry for entry in nobodys if self.unattributed.wanted(entry))
        rss = (before[0], self._rss[1]) if before and self._rss else None
        heap = (heap_before[0], self._heap[1]) if heap_before and self._heap else None
        near = dict(entries)
        nearest = tuple(near.get(entry, ()) for entry in new)
        wrong = Trouble(probe, death, new, rss, heap, nearest)
        self.wrong = wrong if wrong.alone or wrong.slow else None
        if len(found) == 1:
            found = [replace(found[0], probe=probe, rss=rss, heap=heap)]
        if alone:
            known = tuple(entry for entry in nobodys if entry not in new)
            found = [replace(found[0], log=found[0].log + known)]
        return found

    def remains(self, wrong: Trouble) -> bool:
        """Whether some of a trouble has not been shown by one case alone."""
        log = tuple(entry for entry in wrong.log if self.unattributed.wanted(entry))
        wrong = replace(wrong, log=log)
        return wrong.alone or wrong.slow
