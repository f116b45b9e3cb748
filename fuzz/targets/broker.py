"""A broker as a target: batches of cases, a probe behind each, and blame where the probe goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import COMPUTES, Observation, is_set_aside
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.requests import question
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.targets.batch import Batch
from barnabas.fuzz.targets.blame import (
    Trouble,
    Ways,
    alone_to_blame,
    blamed,
    searched,
    shared,
    unsearched,
)
from barnabas.fuzz.targets.computing import Computing
from barnabas.fuzz.targets.crash_counts import CrashCounts
from barnabas.fuzz.targets.flow import Flow, Placed
from barnabas.fuzz.targets.lanes import Lanes
from barnabas.fuzz.targets.probing import Prober
from barnabas.fuzz.targets.processor import spent
from barnabas.fuzz.targets.read_back import ReadBack
from barnabas.fuzz.targets.second_looks import Again, SecondLooks
from barnabas.fuzz.targets.sending import Sender
from barnabas.fuzz.targets.service import Service
from barnabas.fuzz.targets.unattributed import Unattributed
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import PRODUCE

FLOW: Final = 16
"""Batches that follow each other without a gap, at most."""

FIRST: Final = 64
"""Cases that are given at first; twice as many whenever all went well, half as many where the target was
started anew: what one that ends often comes to is told in time."""


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
        self.lanes = Lanes(lanes, patience, who, lambda: service.log())
        self.prober = Prober(limit, who, spent=lambda: spent(getattr(service, "pid", None)))
        self.sender = sender = Sender(service, self.lanes, self.prober)
        self.set_aside = 0
        """Cases that were not sent, since too many of their kind had ended the process."""
        self.hunts = 0
        """How often it was searched for whom to blame."""
        self._batch = batch
        self._at_once = min(FIRST, batch)
        self._crash_counts = CrashCounts()
        self._read_back = ReadBack(self.prober, sender.apart)
        self._computing = Computing(service, sender)
        self._looks = SecondLooks(Again(sender.apart, sender.anew, sender.patiently))

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
        self.sender.restart()
        self._crash_counts, self.sender.watch.unattributed = CrashCounts(), Unattributed()

    def __enter__(self) -> Self:
        try:
            self.sender.revival.start()
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
        return self.sender.revival.restarts

    @property
    def executed(self) -> int:
        """Cases that were sent, also those that were sent again to find whom to blame."""
        return self.sender.executed

    @property
    def unprepared(self) -> str:
        """What sessions will miss of this broker, in words."""
        return self.sender.unprepared

    @property
    def doing(self) -> str:
        """What it does that is no case's turn, in words for who waits."""
        return self.sender.doing

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
            for observation in self._run(cases[start:end], over):
                self.set_aside += is_set_aside(observation)
                start += 1
                yield observation
            if self.restarts > before:
                self._at_once = max(self._at_once // 2, min(FIRST, self._batch))
            else:
                self._at_once = min(self._at_once * 2, FLOW * self._batch)

    def together(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in one go: what none of them shows by itself is told of the last. Raises CannotRun."""
        *found, last = self.sender.perform(cases)
        if self.sender.watch.wrong is not None:
            last = shared(blamed(last, self.sender.watch.wrong), cases)
        yield from (*found, last)

    @contextmanager
    def patient_until(self, over: Callable[[], bool]) -> Iterator[None]:
        """Once it is `over()`, a late answer is waited for no longer, also where the process is at work."""
        before, self.prober.over = self.prober.over, over
        try:
            yield
        finally:
            self.prober.over = before

    def _run(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """Send cases until each has its observation, and yield those in order.

        All are on their way at once, as far as there are connections, with a probe behind each batch that is
        over, while the next one goes on. Where something is wrong, all since the last probe are suspected;
        what the search for the culprit leaves open is sent again, unless its kind is set aside by then.
        A case that needs a second look gets it when no other is under way; those before it are yielded at
        once.
        """
        batch = Batch(cases)
        while (left := batch.left()) and not batch.ends(left) and self._is_ready(batch, left):
            yield from self._send(batch, left, over)
            if not batch.stopped:
                batch.found |= self._computes(batch.found, over)
        for index in range(batch.told, len(batch.cases)):
            completed = self._completed(*batch.found[index])
            assert completed is not None  # noqa: S101 (nobody is under way)
            yield completed

    def _is_ready(self, batch: Batch, left: Sequence[int]) -> bool:
        """Have the target ready for these cases; False: it can't be started again.

        The batch then ends with the last case that was sent.

        Raises:
            CannotRun: Not one of its cases was sent.
        """
        try:
            if self.sender.worn:
                self.sender.restart()
            self.sender.ready()
        except CannotRun:
            sent = (i for i, (one, _) in batch.found.items() if not is_set_aside(one))
            last = max(sent, default=-1)
            if last < 0 and not batch.told:
                raise
            batch.cases = batch.cases[: max(last + 1, batch.told)]
            batch.set_aside(index for index in left if index < len(batch.cases))
            return False
        self.sender.watch.begin()
        return True

    def _send(
        self, batch: Batch, left: Sequence[int], over: Callable[[], bool]
    ) -> Iterator[Observation]:
        """Send the cases that are left, and yield the observations that come next in order."""
        # a campaign of one case asks for it: it is sent, and all that is logged is its own
        alone = len(batch.cases) == 1
        aside = {i for i in left if not alone and self._crash_counts.enough(batch.cases[i])}
        batch.set_aside(aside)
        sent = [index for index in left if index not in aside]
        flow = self.lanes.flow([batch.cases[index] for index in sent])
        restarts = self.restarts
        waits = False
        try:
            while not flow.over:
                for place, observation in self._batch_of(flow, alone):
                    batch.found[sent[place]] = observation, restarts
                    self._crash_counts.saw(observation)
                if self.sender.worn:
                    flow.stop()  # what is left is sent to another
                if over() and not batch.stopped:
                    batch.stopped = True
                    batch.cases = batch.cases[: sent[flow.stop()] + 1]
                while not (waits or flow.over) and batch.told in batch.found:
                    completed = self._completed(*batch.found[batch.told], quiet=False)
                    waits = completed is None
                    if completed is not None:
                        del batch.found[batch.told]
                        batch.told += 1
                        yield completed
        finally:
            if not flow.over:  # a caller that asks for no more leaves cases under way
                self.lanes.aim(self.service.address)

    def _batch_of(self, flow: Flow, alone: bool) -> list[Placed]:
        """The next cases of a flow that are over; where something is wrong then, it ends with all that are
        under way, and those are returned that are settled. alone: it has one case."""
        placed = flow.some(self._batch)
        watch = self.sender.watch
        observed = watch.look(
            [one for _, one in placed], flow.logged(), flow.under_way, alone=alone
        )
        found = dict(zip((place for place, _ in placed), observed, strict=True))
        wrong = watch.wrong
        if wrong is not None:
            rest = flow.rest()
            more = watch.look([one for _, one in rest], flow.logged())
            found.update(zip((place for place, _ in rest), more, strict=True))
            if watch.wrong is not None:
                log, near = wrong.log + watch.wrong.log, wrong.near + watch.wrong.near
                wrong = replace(watch.wrong, log=log, near=near)
            elif not wrong.alone:
                wrong = None
        self.sender.executed += len(found)
        if wrong is not None:
            found = self._settled(found, wrong, flow)
        return [(place, found[place]) for place in sorted(found)]

    def _settled(
        self, found: dict[int, Observation], wrong: Trouble, flow: Flow
    ) -> dict[int, Observation]:
        """By their places, those of cases with trouble behind them that are settled."""
        watch = self.sender.watch
        self.hunts += 1
        places = {one.case.number: place for place, one in found.items()}
        over = list(found.values())
        self.sender.doing = f"looking for the case behind {wrong.named}, one of {len(found)}"
        ways = Ways(
            self.sender.perform, lambda: watch.wrong, self._crash_counts.likely, watch.remains
        )
        try:
            settled = searched(over, wrong, ways)
        except CannotRun:
            looks = {number: flow.looks.get(place, 0) for number, place in places.items()}
            settled = unsearched(over, wrong, looks)
        for one in settled:
            if alone_to_blame(one):
                watch.unattributed.caught(one.log)
        if not wrong.ends:
            watch.unattributed.over(wrong.log)
        self.sender.doing = ""
        return {places[one.case.number]: one for one in settled}

    def _computes(
        self, found: dict[int, tuple[Observation, int]], over: Callable[[], bool]
    ) -> dict[int, tuple[Observation, int]]:
        """By its place, the late case that a thread computes on for long, if there is one."""
        self.sender.doing = "looking for a case that is computed on"
        try:
            one = self._computing.behind((one for one, _ in found.values()), over)
        except CannotRun:
            one = None  # the next that is sent says it
        finally:
            self.sender.doing = ""
        if one is None:
            return {}
        self._crash_counts.killed(one.case)
        places = (place for place, (each, _) in found.items() if each.case == one.case)
        return {next(places): (one, self.restarts)}

    def _completed(
        self, observation: Observation, restarts: int, *, quiet: bool = True
    ) -> Observation | None:
        """With what only a second look can tell, while it can be looked; restarts: how many there had been
        when it was sent. quiet: nobody is under way; None: it is to be looked at once that is so."""
        try:
            if self.sender.down:
                return observation
            if not quiet and (observation.overdue or self._looks.due(observation)):
                return None
            if COMPUTES in dict(observation.facts):
                return observation
            return self._looked(observation, restarts, quiet)
        except CannotRun:
            return observation

    def _looked(self, observation: Observation, restarts: int, quiet: bool) -> Observation | None:
        observation = self._looks.look(observation)
        asked = question(observation.sent).requests
        if observation.ending != "open":
            session = named(observation.case.recipe.session)
            mute = session is not None and session.before_login  # it is told nothing else
            if mute or not all(self.lanes.offers(one.key, one.version) for one in asked):
                return replace(observation, facts=(*observation.facts, ("unoffered", True)))
        elif len(asked) == 1 and asked[0].key == PRODUCE and observation.replies:
            if restarts < self.restarts:
                return observation  # what it wrote may have gone with the process
            return self._read_back.look(observation, asked[0], self.lanes.offered, quiet=quiet)
        return observation
