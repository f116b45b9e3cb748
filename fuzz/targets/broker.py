"""A broker as a target: batches of cases, a probe behind each, and blame where the probe goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation, is_set_aside
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.delayed_responses import AT_WORK_MS, LIMIT_MS
from barnabas.fuzz.observations.requests import question
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.targets.attributing import attributed
from barnabas.fuzz.targets.blame import Trouble, alone_to_blame, blamed, searched, unsearched
from barnabas.fuzz.targets.canary import Canary
from barnabas.fuzz.targets.crash_counts import CrashCounts
from barnabas.fuzz.targets.entries import about
from barnabas.fuzz.targets.flow import Flow, Placed
from barnabas.fuzz.targets.lanes import Lanes
from barnabas.fuzz.targets.preparing import prepare
from barnabas.fuzz.targets.probing import Prober
from barnabas.fuzz.targets.processor import spent
from barnabas.fuzz.targets.read_back import ReadBack
from barnabas.fuzz.targets.revival import Revival
from barnabas.fuzz.targets.second_looks import Again, SecondLooks
from barnabas.fuzz.targets.service import Service
from barnabas.fuzz.targets.unattributed import Unattributed
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import PRODUCE

FLOW: Final = 4
"""Batches that follow each other without a gap, at most."""

FIRST: Final = 64
"""Cases that are given at first; twice as many whenever all went well, half as many where the target was
started anew: what one that ends often comes to is told in time."""


IDLE: Final = 0.05
"""Share of a core that a broker takes at most while it has nothing to do."""


class BrokerTarget:
    """Runs cases against a service. batch: cases for one probe; lanes: connections at once; patience:
    seconds for an answer; limit: seconds for a probe's; who: logs in on each connection, the probe's too."""

    role: Role = "broker"

    def __init__(
        self,
        service: Service,
        *,
        batch: int = 128,
        lanes: int = 16,
        patience: float = 0.3,
        limit: float = 5.0,
        who: Credentials | None = None,
    ) -> None:
        self.name = service.name
        self.service = service
        self.who = who
        self.lanes = Lanes(lanes, patience, who)
        self.prober = Prober(limit, who, spent=lambda: spent(getattr(service, "pid", None)))
        self.executed = 0
        """Cases that were sent, also those that were sent again to find whom to blame."""
        self.set_aside = 0
        """Cases that were not sent, since too many of their kind had ended the process."""
        self.unprepared = ""
        """What sessions will miss of this broker, in words."""
        self.doing = ""
        """What it does that is no case's turn, in words for who waits."""
        self._batch = batch
        self._at_once = min(FIRST, batch)
        self._revival = Revival(service, self.prober, self._aim)
        self._wrong: Trouble | None = None
        self._unattributed = Unattributed()
        self._crash_counts = CrashCounts()
        self._read_back = ReadBack(self.prober, self._apart)
        self._looks = SecondLooks(Again(self._apart, self._anew, self._patiently))
        self._held: tuple[str, ...] = ()
        """Entries of the log about cases that are under way."""
        self._rss: tuple[int, int] | None = None
        self._heap: tuple[int, int] | None = None
        self._canary = Canary(self.prober)
        self._down = False
        """Whether it could not be started again."""

    def count(self, *, guiding: bool) -> None:
        """Have its process count the lines that it reaches, before it starts; guiding: there is but one way.
        Raises Misuse, CannotRun."""
        counts: Callable[[], None] | None = getattr(self.service, "count", None)
        if counts is None:
            raise Misuse(f"{self.name}: its lines can't be counted; those of apache:VERSION can")
        counts()

    @property
    def meter(self) -> Meter | None:
        """Of the lines that its process reaches, if it counts them."""
        return getattr(self.service, "meter", None)

    def reached(self) -> Reach:
        """The lines that were reached. Raises CannotRun."""
        assert self.meter is not None  # noqa: S101 (`count` comes first)
        return self.meter.read()

    def anew(self) -> None:
        """Have it as it was at its start. Raises CannotRun."""
        self._restart()
        self._crash_counts, self._unattributed = CrashCounts(), Unattributed()

    def __enter__(self) -> Self:
        try:
            self._revival.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *problem: object) -> None:
        self.lanes.close()
        self.prober.close()
        self.service.stop()
        if self.meter is not None:
            self.meter.close()

    def takes(self) -> dict[int, range]:
        """API key -> the versions that the broker says it takes; empty if it does not say."""
        return {key: range(low, high + 1) for key, (low, high) in self.prober.offered().items()}

    @property
    def restarts(self) -> int:
        """How often it was started anew."""
        return self._revival.restarts

    @property
    def at_once(self) -> int:
        """Cases that it is best given at once, now: while all goes well, several batches, each begun before
        the last one is over."""
        return self._at_once

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order. What died is started again before the next one. Raises CannotRun if it
        can't be, behind the observations of what was sent."""
        return self.run_until(cases, lambda: False)

    def run_until(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """The same; once it is `over()` no case is sent behind the last that was."""
        start = 0
        while start < len(cases) and not over():
            end, before = start + self.at_once, self.restarts
            told = self._run(cases[start:end], over)
            for observation, restarts in told:
                self.set_aside += is_set_aside(observation)
                yield self._completed(observation, restarts)
            start += len(told)
            if self.restarts > before:
                self._at_once = max(self._at_once // 2, min(FIRST, self._batch))
            else:
                self._at_once = min(self._at_once * 2, FLOW * self._batch)

    def _run(
        self, cases: Sequence[Case], over: Callable[[], bool]
    ) -> list[tuple[Observation, int]]:
        """All on their way at once, as far as there are connections; a probe behind each batch that is over,
        while the next one goes on. Where something is wrong, all since the last probe are suspected; what
        the search for whom to blame leaves open is sent again, unless its kind is set aside by then.
        Beside each, how many restarts there had been when it was sent. Where it can't be started again, those
        up to the last one that was sent; what was not sent before that is set aside."""
        found: dict[int, tuple[Observation, int]] = {}
        stopped = False
        while left := [index for index in range(len(cases)) if index not in found]:
            if stopped and 0 in found:  # what is open is sent when the campaign goes on
                return [found[index] for index in range(left[0])]
            try:
                self._ready()
            except CannotRun:
                last = max(
                    (i for i, (one, _) in found.items() if not is_set_aside(one)), default=-1
                )
                if last < 0:
                    raise
                return [found.get(i, (_set_aside(cases[i]), 0)) for i in range(last + 1)]
            self._rss, self._heap = self.service.rss(), self.service.heap()
            alone = (
                len(cases) == 1
            )  # somebody asks for this one: it is sent, and all that is logged is its own
            aside = {one for one in left if not alone and self._crash_counts.enough(cases[one])}
            for index in aside:
                found[index] = _set_aside(cases[index]), 0
            sent = [index for index in left if index not in aside]
            flow = self.lanes.flow([cases[index] for index in sent])
            restarts = self.restarts
            while not flow.over:
                for place, observation in self._batch_of(flow, alone):
                    found[sent[place]] = observation, restarts
                    if observation.death is not None:
                        self._crash_counts.killed(observation.case)
                    elif observation.probe is not None and not observation.probe.answered:
                        self._crash_counts.hung(observation.case)
                if over() and not stopped:
                    stopped = True
                    cases = cases[: sent[flow.stop()] + 1]
        return [found[index] for index in range(len(cases))]

    def _batch_of(self, flow: Flow, alone: bool) -> list[Placed]:
        """The next cases of a flow that are over; where something is wrong then, it ends with all that are
        under way, and those are returned that are settled. alone: it has one case."""
        placed = flow.some(self._batch)
        observed = self._look([one for _, one in placed], flow.under_way, alone=alone)
        found = dict(zip((place for place, _ in placed), observed, strict=True))
        wrong = self._wrong
        if wrong is not None:
            rest = flow.rest()
            more = self._look([one for _, one in rest])
            found.update(zip((place for place, _ in rest), more, strict=True))
            if self._wrong is not None:
                wrong = replace(self._wrong, log=wrong.log + self._wrong.log)
            elif not wrong.alone:
                wrong = None
        self.executed += len(found)
        if wrong is not None:
            places = {one.case.number: place for place, one in found.items()}
            self.doing = f"looking for the case behind {wrong.named}, one of {len(found)}"
            over = list(found.values())
            try:
                settled = searched(
                    over, wrong, self._perform, lambda: self._wrong, self._crash_counts.likely
                )
            except CannotRun:
                looks = {number: flow.looks.get(place, 0) for number, place in places.items()}
                settled = unsearched(over, wrong, looks)
            for one in settled:
                if alone_to_blame(one):
                    self._unattributed.caught(one.log)
            if not wrong.ends:
                self._unattributed.over(wrong.log)
            self.doing = ""
            found = {places[one.case.number]: one for one in settled}
        return [(place, found[place]) for place in sorted(found)]

    def _completed(self, observation: Observation, restarts: int) -> Observation:
        """With what only a second look can tell, while it can be looked."""
        try:
            return observation if self._down else self._looked(observation, restarts)
        except CannotRun:
            return observation

    def _looked(self, observation: Observation, restarts: int) -> Observation:
        observation = self._looks.look(observation)
        asked = question(observation.sent).requests
        if observation.ending != "open":
            session = named(observation.case.recipe.session)
            mute = session is not None and session.before_login  # it is told nothing else
            if mute or not all(self._offers(one.key, one.version) for one in asked):
                return replace(observation, facts=(*observation.facts, ("unoffered", True)))
        elif len(asked) == 1 and asked[0].key == PRODUCE and observation.replies:
            if restarts < self.restarts:
                return observation  # what it wrote may have gone with the process
            return self._read_back.look(observation, asked[0], self.lanes.offered)
        return observation

    def _offers(self, key: int, version: int) -> bool:
        low, high = self.lanes.offered.get(key, (0, -1))
        return not self.lanes.offered or low <= version <= high

    def _apart(self, case: Case) -> Observation:
        """Send a case on a connection of its own."""
        self.lanes.aim(self.service.address)
        return self._alone(case)

    def _anew(self, case: Case) -> Observation:
        """Send a case to a target that was started anew."""
        self._restart()
        return self._alone(case)

    def _patiently(self, case: Case) -> Observation:
        """Send a case, and wait for its answer as long as any may take."""
        self._ready()
        pid = getattr(self.service, "pid", None)
        before = spent(pid)
        self.doing = f"waiting for an answer for {LIMIT_MS / 1000:.0f} s at most"
        (found,) = self.lanes.run((case,), LIMIT_MS / 1000)
        self.executed += 1
        if found.overdue and (spent(pid) or 0) - (before or 0) > IDLE * LIMIT_MS / 1000:
            self.doing = "waiting for an answer: the process is at work"
            (found,) = self.lanes.run((case,), AT_WORK_MS / 1000)
            self.executed += 1
        self.doing = ""
        probe = self.prober.probe()
        death = self._revival.death(probe)
        (found,), log = attributed([found], self.service.log())
        if death or not probe.answered:
            self._wrong = Trouble(probe, death)
        return replace(found, probe=probe, death=death, log=found.log + log)

    def _alone(self, case: Case) -> Observation:
        """Send a case, with all that it does."""
        (found,) = self._perform((case,))
        return found if self._wrong is None else blamed(found, self._wrong)

    def _perform(self, cases: Sequence[Case]) -> list[Observation]:
        """Send cases, then a probe; what no case shows by itself is `_wrong`."""
        self._ready()
        self._rss, self._heap = self.service.rss(), self.service.heap()
        self._held = ()
        found = self.lanes.run(cases)
        self.executed += len(cases)
        found = self._look(found, alone=len(cases) == 1)
        if len(cases) == 1 and self._wrong is not None:
            self._unattributed.caught(self._wrong.log)
        return found

    def _look(
        self,
        found: list[Observation],
        under_way: Callable[[int | None, int | None], bool] = lambda port, correlation_id: False,
        *,
        alone: bool = False,
    ) -> list[Observation]:
        """A probe behind cases; what no case shows by itself is `_wrong`. under_way: whether an entry of
        the log, by its port and correlation id, is about another case that is not over yet. alone: it is
        one case, so that entries which name nobody are its own, known or not."""
        probe = self.prober.probe(self._canary.check)
        death = self._revival.death(probe)
        before, self._rss = self._rss, self.service.rss()
        heap_before, self._heap = self._heap, self.service.heap()
        found, log = attributed(found, (*self._held, *self.service.log()))
        self._held = tuple(entry for entry in log if under_way(*about(entry)))
        nobodys = tuple(entry for entry in log if entry not in self._held)
        new = tuple(entry for entry in nobodys if self._unattributed.wanted(entry))
        rss = (before[0], self._rss[1]) if before and self._rss else None
        heap = (heap_before[0], self._heap[1]) if heap_before and self._heap else None
        wrong = Trouble(probe, death, new, rss, heap)
        self._wrong = wrong if wrong.alone or wrong.slow else None
        if len(found) == 1:
            found = [replace(found[0], probe=probe, rss=rss, heap=heap)]
        if alone:
            known = tuple(entry for entry in nobodys if entry not in new)
            found = [replace(found[0], log=found[0].log + known)]
        return found

    def _ready(self) -> None:
        """Bring back what died or hangs. Raises CannotRun."""
        wrong = self._wrong
        probe = wrong.probe if wrong else None
        if wrong is None or (wrong.death is None and (probe is None or probe.answered)):
            self._wrong = None
            if probe is not None and probe.problem:
                self._canary.write(self.lanes.offered)  # or what is damaged now is blamed on others
            return
        if wrong.death is None and self._revival.was_busy():
            self._wrong = None
            self.lanes.aim(self.service.address)
        else:
            self._restart()

    def _restart(self) -> None:
        before, self.doing, self._down = self.doing, "starting it anew", True
        try:
            self._revival.restart()
        finally:
            self.doing = before
        self._wrong, self._down = None, False

    def _aim(self) -> None:
        self.lanes.aim(self.service.address)
        self.lanes.offered = self.prober.offered()
        self.unprepared = prepare(self.prober, self.lanes.offered)
        self._canary.write(self.lanes.offered)


def _set_aside(case: Case) -> Observation:
    return Observation(case, facts=((SET_ASIDE, True),))
