"""A broker as a target: batches of cases, a probe after each, and a search for the culprit after trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import (
    COMPUTES,
    ENDED_DURING,
    ENDED_OFTEN,
    Observation,
    is_set_aside,
)
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.requests import parse_requests
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.targets.batch import Batch
from barnabas.fuzz.targets.blame import (
    Search,
    Trouble,
    alone_to_blame,
    blame_in_flight,
    search_culprit,
    share_blame,
    with_trouble,
)
from barnabas.fuzz.targets.busy_threads import BusyThreadFinder
from barnabas.fuzz.targets.connections import Connections
from barnabas.fuzz.targets.crash_counts import CrashCounts
from barnabas.fuzz.targets.flow import Flow, Placed
from barnabas.fuzz.targets.log_attribution import Unattributed
from barnabas.fuzz.targets.prober import Prober
from barnabas.fuzz.targets.process_usage import spent
from barnabas.fuzz.targets.read_back import ReadBack
from barnabas.fuzz.targets.second_looks import Again, SecondLooks
from barnabas.fuzz.targets.sender import Sender
from barnabas.fuzz.targets.service import Service
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import PRODUCE

FLOW: Final = 16
"""The maximal number of batches that follow each other without a gap."""

FIRST: Final = 64
"""Cases of the first request; doubled while all goes well, halved after a restart, so that crashes are
reported in time."""


class BrokerTarget:
    """Runs cases against a service.

    Args:
        service: The broker's process.
        batch: Cases between two probes.
        connections: Connections at once.
        timeout: Seconds that a response may take.
        probe_timeout: Seconds that a probe's response may take.
        credentials: The user of each connection, the probe's too.
    """

    role: Role = "broker"

    def __init__(
        self,
        service: Service,
        *,
        batch: int = 128,
        connections: int = 16,
        timeout: float = 0.3,
        probe_timeout: float = 5.0,
        credentials: Credentials | None = None,
    ) -> None:
        self.name = service.name
        self.service = service
        self.credentials = credentials
        self.connections = Connections(connections)
        self.prober = Prober(
            probe_timeout, credentials, spent=lambda: spent(getattr(service, "pid", None))
        )
        self.sender = sender = Sender(service, self.connections, self.prober, timeout, credentials)
        self.set_aside = 0
        """Cases that were not sent, because too many of their kind had ended the process."""
        self.hunts = 0
        """Searches for a culprit."""
        self._batch = batch
        self._at_once = min(FIRST, batch)
        self._crash_counts = CrashCounts()
        self._read_back = ReadBack(self.prober, sender.send_alone)
        self._computing = BusyThreadFinder(service, sender)
        self._looks = SecondLooks(
            Again(sender.send_alone, sender.send_fresh, sender.send_patiently)
        )

    def count(self, *, guiding: bool) -> None:
        """Count the lines that the process reaches, from its next start on. Raises Misuse, CannotRun.

        guiding: has no effect; lines of brokers are counted in one way.
        """
        counts: Callable[[], None] | None = getattr(self.service, "count", None)
        if counts is None:
            raise Misuse(f"{self.name}: no line coverage; apache:VERSION has it")
        counts()

    @property
    def meter(self) -> Meter | None:
        """Return the meter of the lines that the process reaches, if they are counted."""
        return getattr(self.service, "meter", None)

    def reached(self) -> Reach:
        """Return the lines that were reached. Raises CannotRun."""
        assert self.meter is not None  # noqa: S101 (`count` comes first)
        return self.meter.read()

    def reset(self) -> None:
        """Restore the target's state at its start. Raises CannotRun."""
        self.sender.restart()
        self._crash_counts, self.sender.health.unattributed = CrashCounts(), Unattributed()

    def __enter__(self) -> Self:
        try:
            self.sender.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *problem: object) -> None:
        self.connections.close()
        self.prober.close()
        self.service.stop()
        if self.meter is not None:
            self.meter.close()

    def supported_versions(self) -> dict[int, range]:
        """Return the versions that the broker offers by API key; empty if it does not report them."""
        return {key: range(low, high + 1) for key, (low, high) in self.prober.offered().items()}

    @property
    def restarts(self) -> int:
        """Return how often the broker was restarted."""
        return self.sender.restarts

    @property
    def executed(self) -> int:
        """Return the number of cases that were sent, including those of searches."""
        return self.sender.executed

    @property
    def unprepared(self) -> str:
        """Return what sessions lack on this broker, as a message."""
        return self.sender.unprepared

    @property
    def doing(self) -> str:
        """Return the current activity other than sending new cases, as a message."""
        return self.sender.doing

    @property
    def at_once(self) -> int:
        """Return the number of cases that the target is best given now.

        While all goes well, these are several batches, each begun before the last one is over.
        """
        return self._at_once

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order, and restart the broker after a crash.

        Raises CannotRun, after the observations of what was sent, if a restart fails.
        """
        return self.run_until(cases, lambda: False)

    def run_until(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """Run cases in order; once `over()` returns True, no case after the last sent one is sent."""
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
        """Run cases in one batch; trouble that no case shows goes to the last one. Raises CannotRun."""
        *observations, last = self.sender.perform(cases)
        if self.sender.health.wrong is not None:
            last = share_blame(with_trouble(last, self.sender.health.wrong), cases)
        yield from (*observations, last)

    @contextmanager
    def patient_until(self, over: Callable[[], bool]) -> Iterator[None]:
        """Wait for late responses until `over()` returns True, even if the process is at work."""
        before, self.prober.over = self.prober.over, over
        try:
            yield
        finally:
            self.prober.over = before

    def _run(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """Send cases until each has its observation, and yield these in order.

        All cases are in flight together, as far as there are connections. A probe follows each completed
        batch while the next one goes on. After trouble, all cases since the last probe are suspected. Cases
        that the search does not settle are sent again, unless their kind is set aside by then. A case that
        needs a second look gets it when no other is in flight; the cases before it are yielded at once.
        """
        batch = Batch(cases)
        while (
            (remaining := batch.remaining())
            and not batch.ends_before(remaining)
            and self._is_ready(batch, remaining)
        ):
            yield from self._send(batch, remaining, over)
            if not batch.stopped:
                batch.observations |= self._computes(batch.observations, over)
        for index in range(batch.yielded, len(batch.cases)):
            completed = self._completed(*batch.observations[index])
            assert completed is not None  # noqa: S101 (nobody is under way)
            yield completed

    def _is_ready(self, batch: Batch, remaining: Sequence[int]) -> bool:
        """Prepare the target for these cases; return False if it can't be restarted.

        The batch then ends with the last case that was sent.

        Raises:
            CannotRun: None of the cases was sent.
        """
        try:
            if self.sender.worn:
                self.sender.restart()
            self.sender.ready()
        except CannotRun:
            sent = (
                i
                for i, (observation, _) in batch.observations.items()
                if not is_set_aside(observation)
            )
            last = max(sent, default=-1)
            if last < 0 and not batch.yielded:
                raise
            batch.cases = batch.cases[: max(last + 1, batch.yielded)]
            unsettled = (index for index in remaining if index < len(batch.cases))
            batch.set_aside(unsettled, ENDED_DURING)
            return False
        self.sender.health.begin()
        return True

    def _send(
        self, batch: Batch, remaining: Sequence[int], over: Callable[[], bool]
    ) -> Iterator[Observation]:
        """Send the remaining cases, and yield the observations that come next in order."""
        # a single case is always sent, and all log entries are its own
        alone = len(batch.cases) == 1
        set_aside = {
            i for i in remaining if not alone and self._crash_counts.is_frequent(batch.cases[i])
        }
        batch.set_aside(set_aside, ENDED_OFTEN)
        sent = [index for index in remaining if index not in set_aside]
        flow = self.sender.flow([batch.cases[index] for index in sent])
        restarts = self.restarts
        waits = False
        try:
            while not flow.over:
                for position, observation in self._batch_of(flow, alone):
                    batch.observations[sent[position]] = observation, restarts
                    self._crash_counts.count(observation)
                if self.sender.worn:
                    flow.stop()  # the restarted broker gets the remaining cases
                if over() and not batch.stopped:
                    batch.stopped = True
                    batch.cases = batch.cases[: sent[flow.stop()] + 1]
                while not (waits or flow.over) and batch.yielded in batch.observations:
                    completed = self._completed(*batch.observations[batch.yielded], quiet=False)
                    waits = completed is None
                    if completed is not None:
                        del batch.observations[batch.yielded]
                        batch.yielded += 1
                        yield completed
        finally:
            if not flow.over:  # the caller has closed the generator with cases in flight
                self.connections.aim(self.service.address)

    def _batch_of(self, flow: Flow, alone: bool) -> list[Placed]:
        """Return the next completed cases of a flow.

        After trouble, the flow ends with the cases in flight, and the settled observations are returned.
        alone: the flow has one case.
        """
        placed = flow.some(self._batch)
        health = self.sender.health
        observed = health.look(
            [observation for _, observation in placed], flow.logged(), flow.under_way, alone=alone
        )
        by_index = dict(zip((index for index, _ in placed), observed, strict=True))
        wrong = health.wrong
        if wrong is not None:
            rest = flow.rest()
            more = health.look([observation for _, observation in rest], flow.logged())
            by_index.update(zip((index for index, _ in rest), more, strict=True))
            if health.wrong is not None:
                log, near = wrong.log + health.wrong.log, wrong.near + health.wrong.near
                wrong = replace(health.wrong, log=log, near=near)
            elif not wrong.alone:
                wrong = None
        self.sender.executed += len(by_index)
        if wrong is not None:
            by_index = self._settled(by_index, wrong, flow)
        return [(index, by_index[index]) for index in sorted(by_index)]

    def _settled(
        self, by_index: dict[int, Observation], wrong: Trouble, flow: Flow
    ) -> dict[int, Observation]:
        """Return the settled observations of cases after trouble, by their indices."""
        health = self.sender.health
        self.hunts += 1
        indices = {observation.case.number: index for index, observation in by_index.items()}
        over = list(by_index.values())
        self.sender.doing = (
            f"looking for the case that caused {wrong.named}, one of {len(by_index)}"
        )
        search = Search(
            self.sender.perform,
            lambda: health.wrong,
            self._crash_counts.is_suspected,
            health.remains,
        )
        try:
            settled = search_culprit(over, wrong, search)
        except CannotRun:
            looks = {number: flow.looks.get(index, 0) for number, index in indices.items()}
            settled = blame_in_flight(over, wrong, looks)
        for observation in settled:
            if alone_to_blame(observation):
                health.unattributed.note_culprit(observation.log)
        if not wrong.ends:
            health.unattributed.note_searched(wrong.log)
        self.sender.doing = ""
        return {indices[observation.case.number]: observation for observation in settled}

    def _computes(
        self, by_index: dict[int, tuple[Observation, int]], over: Callable[[], bool]
    ) -> dict[int, tuple[Observation, int]]:
        """Return the overdue case on which a thread computes for long, by its index, if there is one."""
        self.sender.doing = "looking for a case that is computed on"
        try:
            observation = self._computing.find_culprit(
                (observation for observation, _ in by_index.values()), over
            )
        except CannotRun:
            observation = None  # the next case reports the failure
        finally:
            self.sender.doing = ""
        if observation is None:
            return {}
        self._crash_counts.count_crash(observation.case)
        indices = (index for index, (each, _) in by_index.items() if each.case == observation.case)
        return {next(indices): (observation, self.restarts)}

    def _completed(
        self, observation: Observation, restarts: int, *, quiet: bool = True
    ) -> Observation | None:
        """Return the observation with the results of a second look; None if that must wait.

        restarts: the number of restarts when the case was sent. quiet: no case is in flight.
        """
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
        requests = parse_requests(observation.sent).requests
        if observation.ending != "open":
            session = named(observation.case.recipe.session)
            mute = (
                session is not None and session.before_login
            )  # the broker answers nothing else before a login
            if mute or not all(
                self.connections.offers(request.key, request.version) for request in requests
            ):
                return replace(observation, facts=(*observation.facts, ("unoffered", True)))
        elif len(requests) == 1 and requests[0].key == PRODUCE and observation.replies:
            if restarts < self.restarts:
                return observation  # the records may be lost with the process
            return self._read_back.look(
                observation, requests[0], self.connections.offered, quiet=quiet
            )
        return observation
