"""A broker as a target: batches of cases, a probe behind each, and blame where the probe goes wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from fuzz.case import Case, Role
from fuzz.errors import CannotRun
from fuzz.observation import Death, Observation, Probe
from fuzz.patience import LIMIT_MS, PARKED
from fuzz.tally import SET_ASIDE
from fuzz.targets.blame import Trouble, settle
from fuzz.targets.entries import about, template
from fuzz.targets.following import served
from fuzz.targets.lanes import Lanes
from fuzz.targets.preparing import prepare
from fuzz.targets.probing import Prober
from fuzz.targets.service import Service
from fuzz.targets.wire import question
from fuzz.targets.witness import Witness
from specs.keys import PRODUCE

CONFIRMED: Final = 2
"""Unanswered requests of an API and version that are waited for once more, alone and for long."""

TRACED: Final = 1
"""Log entries of one template that a case is looked for, if they do not say whose they are."""

GROWTH: Final = 64 << 20
"""Bytes of memory that a batch may take without being asked for it."""

HEAP_GROWTH: Final = 96 << 20
"""The same of a heap: of 256 MiB, 77 are young, and full of garbage whatever is asked."""

FOLLOWED: Final = 16
"""Accepted batches of a version of Produce and a mutator that are asked for afterwards."""

OUT_OF_MEMORY: Final = "java.lang.OutOfMemoryError"

FRESH: Final = 12
"""Restarts at most for the sake of a stack trace."""

DEATHS: Final = 3
"""Cases of an API, version and mutator that may end the process, before others of the kind are set aside:
each costs several restarts, and says nothing new."""

DEATHS_OF_API: Final = 30
"""The same for all of an API."""

DYING_S: Final = 2.0
"""How long a process that no longer answers may take to end."""


class BrokerTarget:
    """Runs cases against a service. batch: cases for one probe; lanes: connections at once; patience:
    seconds for an answer; limit: seconds for a probe's."""

    role: Role = "broker"

    def __init__(
        self,
        service: Service,
        *,
        batch: int = 128,
        lanes: int = 16,
        patience: float = 0.3,
        limit: float = 5.0,
    ) -> None:
        self.name = service.name
        self.service = service
        self.lanes = Lanes(lanes, patience)
        self.prober = Prober(limit)
        self.executed = 0
        """Cases that were sent, also those that were sent again to find whom to blame."""
        self.restarts = 0
        self.set_aside = 0
        """Cases that were not sent, since too many of their kind had ended the process."""
        self.unprepared = ""
        """What sessions will miss of this broker, in words."""
        self._batch = batch
        self._wrong: Trouble | None = None
        self._confirmed: Counter[tuple[int, int]] = Counter()
        self._traced: Counter[str] = Counter()
        self._deaths: Counter[tuple[int, int, str]] = Counter()
        self._followed: Counter[tuple[int, str]] = Counter()
        self._fresh: set[str] = set()
        self._witness = Witness(self.prober)

    def __enter__(self) -> Self:
        self.service.start()
        try:
            self._aim()
            probe = self.prober.probe()
            if not probe.answered:
                host, port = self.service.address
                raise CannotRun(f"{self.name} at {host}:{port} does not serve: {probe.problem}")
            self.service.log()  # what it said while it started is no case's
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.lanes.close()
        self.prober.close()
        self.service.stop()

    def takes(self) -> dict[int, range]:
        """API key -> the versions that the broker says it takes; empty if it does not say."""
        return {key: range(low, high + 1) for key, (low, high) in self.prober.offered().items()}

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order. What died is started again before the next one. Raises CannotRun if it
        can't be."""
        for start in range(0, len(cases), self._batch):
            batch = cases[start : start + self._batch]
            aside = {case.number for case in batch if self._is_known(case)}
            wanted = [case for case in batch if case.number not in aside]
            found = iter(
                settle(wanted, self._perform, lambda: self._wrong, self._killed) if wanted else ()
            )
            for case in batch:
                if case.number in aside:
                    self.set_aside += 1
                    yield Observation(case, facts=((SET_ASIDE, True),))
                    continue
                observation = self._completed(next(found))
                if observation.death is not None:
                    self._deaths[_kind(case)] += 1
                    self._deaths[case.recipe.seed.key, -1, ""] += 1
                yield observation

    def _is_known(self, case: Case) -> bool:
        of_api = self._deaths[case.recipe.seed.key, -1, ""]
        return self._deaths[_kind(case)] >= DEATHS or of_api >= DEATHS_OF_API

    def _killed(self, case: Case) -> bool:
        return self._deaths[case.recipe.seed.key, -1, ""] > 0

    def _completed(self, observation: Observation) -> Observation:
        """With what only a second look can tell."""
        observation = self._confirm(self._with_stack(observation))
        asked = question(observation.sent).requests
        if observation.ending != "open":
            if asked and not self._offers(asked[-1].key, asked[-1].version):
                observation = replace(observation, facts=(*observation.facts, ("unoffered", True)))
        elif len(asked) == 1 and asked[0].key == PRODUCE and observation.replies:
            changes = observation.case.recipe.changes
            kind = (asked[0].version, changes[-1].mutator if changes else "")
            self._followed[kind] += 1
            if self._followed[kind] <= FOLLOWED:
                found = served(observation, self.prober, self.lanes.offered)
                if found:
                    observation = replace(
                        observation, facts=(*observation.facts, ("served", found))
                    )
        return observation

    def _offers(self, key: int, version: int) -> bool:
        low, high = self.lanes.offered.get(key, (0, -1))
        return not self.lanes.offered or low <= version <= high

    def _with_stack(self, observation: Observation) -> Observation:
        """A JVM tells where memory ran out for its first errors only (its preallocated ones): such a
        case is run alone on a fresh one."""
        if not any(OUT_OF_MEMORY in entry and "\tat " not in entry for entry in observation.log):
            return observation
        changes = observation.case.recipe.changes
        kind = changes[-1].mutator if changes else ""
        if kind in self._fresh or len(self._fresh) >= FRESH:
            return observation
        self._fresh.add(kind)
        self._restart()
        (again,) = self._perform((observation.case,))
        return again if again.log else observation

    def _perform(self, cases: Sequence[Case]) -> list[Observation]:
        """Send cases, then a probe; what no case shows by itself is `_wrong`."""
        self._ready()
        before, heap_before = self.service.rss(), self.service.heap()
        found = self.lanes.run(cases)
        self.executed += len(cases)
        probe = self.prober.probe(self._witness.testify)
        death = self._death(probe)
        after, heap_after = self.service.rss(), self.service.heap()
        found, log = attributed(found, self.service.log())
        new = tuple(entry for entry in log if self._new(entry))
        rss = (before[0], after[1]) if before and after else None
        heap = (heap_before[0], heap_after[1]) if heap_before and heap_after else None
        grown = _grown(rss) > GROWTH or _grown(heap) > HEAP_GROWTH
        if death or not probe.answered or probe.problem or new or grown:
            self._wrong = Trouble(probe, death, new, rss, heap)
        else:
            self._wrong = None
        if len(found) == 1:
            found = [replace(found[0], probe=probe, rss=rss, heap=heap)]
        return found

    def _new(self, entry: str) -> bool:
        """Whether the case behind an entry is still looked for. Each look counts."""
        shape = template(entry)
        self._traced[shape] += 1
        return self._traced[shape] <= TRACED * self._batch.bit_length()

    def _death(self, probe: Probe) -> Death | None:
        death = self.service.death()
        deadline = time.monotonic() + (0 if probe.answered else DYING_S)
        while death is None and time.monotonic() < deadline:
            time.sleep(0.05)
            death = self.service.death()
        return death

    def _ready(self) -> None:
        """Bring back what died or hangs. Raises CannotRun."""
        wrong = self._wrong
        self._wrong = None
        probe = wrong.probe if wrong else None
        if wrong is None or (wrong.death is None and (probe is None or probe.answered)):
            if probe is not None and probe.problem:
                self._witness.swear(
                    self.lanes.offered
                )  # or what is damaged now is blamed on others
            return
        self._restart()

    def _restart(self) -> None:
        self.service.stop()
        self.service.start()
        self.restarts += 1
        self._aim()
        probe = self.prober.probe()
        if not probe.answered:
            raise CannotRun(f"{self.name} no longer serves: {probe.problem}; start it again")
        self.service.log()
        self._wrong = None

    def _aim(self) -> None:
        self.lanes.aim(self.service.address)
        self.prober.aim(self.service.address)
        self.lanes.offered = self.prober.offered()
        self.unprepared = prepare(self.prober, self.lanes.offered)
        self._witness.swear(self.lanes.offered)

    def _confirm(self, observation: Observation) -> Observation:
        """An answer that is overdue is waited for again, alone."""
        if not any(name == "waited_ms" for name, _ in observation.facts):
            return observation
        asked = question(observation.sent)
        due = [one for one in asked.requests if one.answered]
        if len(observation.replies) >= len(due):
            return observation
        late = due[len(observation.replies)]
        if late.key in PARKED or self._confirmed[late.key, late.version] >= CONFIRMED:
            return observation
        self._confirmed[late.key, late.version] += 1
        self._ready()
        (again,) = self.lanes.run((observation.case,), LIMIT_MS / 1000)
        self.executed += 1
        probe = self.prober.probe()
        death = self._death(probe)
        (again,), log = attributed([again], self.service.log())
        if death or not probe.answered:
            self._wrong = Trouble(probe, death)
        return replace(again, probe=probe, death=death, log=again.log + log)


def _grown(memory: tuple[int, int] | None) -> int:
    return memory[1] - memory[0] if memory is not None else 0


def _kind(case: Case) -> tuple[int, int, str]:
    recipe = case.recipe
    return (
        recipe.seed.key,
        recipe.seed.version,
        recipe.changes[-1].mutator if recipe.changes else "",
    )


def attributed(
    observations: Sequence[Observation], log: Sequence[str]
) -> tuple[list[Observation], tuple[str, ...]]:
    """Entries that name a connection are its case's; the others are left.

    A connection may have had several cases: it is the one with the request of that correlation id, or
    else the last. An entry that names a request only is that case's which alone has sent it.
    """
    found = list(observations)
    if not log:
        return found, ()
    ports: dict[object, list[int]] = {}
    for index, one in enumerate(found):
        ports.setdefault(dict(one.facts).get("port"), []).append(index)
    left = []
    for entry in log:
        port, correlation_id = about(entry)
        if port is not None:
            candidates = ports.get(port, [])
        else:
            candidates = [i for i, one in enumerate(found) if _asks(one, correlation_id)]
        if not candidates or (port is None and len(candidates) > 1):
            left.append(entry)
            continue
        index = max(
            candidates,
            key=lambda i: (_asks(found[i], correlation_id), found[i].ending != "open", i),
        )
        found[index] = replace(found[index], log=(*found[index].log, entry))
    return found, tuple(left)


def _asks(observation: Observation, correlation_id: int | None) -> bool:
    if correlation_id is None:
        return False
    return any(one.correlation_id == correlation_id for one in question(observation.sent).requests)
