"""A client as a target: concurrent sessions with it, one for each case."""

from __future__ import annotations

import contextlib
import selectors
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Final, Self

from barnabas.fuzz.bench_broker.broker import Broker
from barnabas.fuzz.bench_broker.cluster import TOPIC
from barnabas.fuzz.bench_broker.offer import EVERYTHING, Offer, narrowed
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Role, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.coverage.clients import meter
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.clients.alarms import AlarmKind, alarm
from barnabas.fuzz.targets.clients.child import Child
from barnabas.fuzz.targets.clients.confirmation import AlarmConfirmation, with_facts
from barnabas.fuzz.targets.clients.fork_server import ForkServer
from barnabas.fuzz.targets.clients.limits import (
    OF_LIBRARY,
    EndLimits,
    Limits,
    again,
    at_all,
    beside,
)
from barnabas.fuzz.targets.clients.processes import ClientProcesses
from barnabas.fuzz.targets.clients.scheduler import AGAIN, SessionScheduler, finish
from barnabas.fuzz.targets.clients.worker import Worker
from barnabas.fuzz.targets.clients.workloads import WORKLOADS, Survey
from barnabas.peers import processes
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.registry import COUNTED
from barnabas.plural import plural

CONFIRMING: Final = 16
"""Threads that run cases again, alone, while other sessions go on; most of them wait for hanging clients."""
ONE_BY_ONE: Final = 4
"""Cases that run at a time when no other session runs: clients that hang mostly wait."""
COMPARED: Final = 200
"""Cases that a compared client is best given at once: both clients run all of them before any result."""


class ClientTarget:
    """Runs cases with a client of some release; see `barnabas.fuzz.targets.target.Target`.

    A case with a crash, hang or growth of memory runs again alone, in a new process; the fact `confirmed`
    tells whether it did the same there. If it did not, an earlier case may have caused it: that case is
    returned once more, with its observation alone; if none does, the fact names all of them. Alarms like a
    confirmed one do not run again, and a client that computes without end, as a confirmed case did, is ended
    sooner. Where sessions share a process, its end is only blamed on a case that causes it alone. Meanwhile
    the sessions of other cases go on. A case whose response the client does not request was not sent: it is
    set aside and counted.

    Args:
        client: The client.
        limits: Its limits, instead of the library's.
        side_by_side: The number of concurrent sessions.
        each: The program is started for every case, with {bootstrap} and {topic} filled in, and ends by
            itself; else it runs many sessions.
    """

    role: Role = "client"
    at_once = 5000
    """Cases that it is best given at once: after the last of them, hanging ones are waited for and run again,
    which takes as long as some hundred others."""

    def __init__(
        self,
        client: Client,
        *,
        limits: Limits | None = None,
        side_by_side: int | None = None,
        each: bool = False,
    ) -> None:
        self.name = client.name
        self._client = client
        self._limits = limits or OF_LIBRARY.get(client.library, Limits())
        if side_by_side:
            self._limits = self._limits._replace(side_by_side=side_by_side)
        self._each = each
        self._running = contextlib.ExitStack()
        self._looks: AlarmConfirmation | None = None
        self._confirmed: set[AlarmKind] = set()
        self._left = threading.Event()
        """Set once nobody waits for confirmations."""
        self._asks = Survey(self.name, self._session, each=each)
        self._counts = self._guides = False
        self.meter: Meter | None = None
        """The meter of the lines that the programs reach, while they run, if they are counted."""

    def count(self, *, guiding: bool) -> None:
        """Count the lines that the programs reach, from the next start on. Raises Misuse.

        guiding: each case has a fact with its new lines; a session then has its own process, which reports
        them after it.
        """
        if self._client.counted is None:
            raise Misuse(f"{self.name}: no line coverage; these have it: {', '.join(COUNTED)}")
        self._guides = guiding
        self._counts = True

    def reached(self) -> Reach:
        """Return the lines that were reached; between cases. Raises CannotRun."""
        assert self.meter is not None  # noqa: S101 (`count` comes first)
        return self.meter.read()

    def reset(self) -> None:
        """Do nothing: a session leaves nothing behind."""

    def __enter__(self) -> Self:
        try:
            prepare = self._client.counted if self._counts else self._client.prepare
            assert prepare is not None  # noqa: S101 (`count` looked)
            self._ready: Program = prepare()
        except UnavailableClientError as problem:
            raise CannotRun(str(problem)) from None
        with contextlib.ExitStack() as stack:
            self._folder = stack.enter_context(processes.folder())
            if self._counts:
                self.meter = meter(self._client, self._ready)
                stack.callback(self.meter.close)
            self._server: ForkServer | None = None
            if self._ready.forks:
                self._server = ForkServer(self._ready, self._folder)
                stack.callback(self._server.close)
            self._selector = stack.enter_context(selectors.DefaultSelector())
            # with several sessions, the one that reached a line is unknown
            at_once = 1 if self._guides else self._limits.in_a_process
            self._processes = self._started(self._selector, at_once=at_once)
            self._workers = [self._beside() for _ in range(self._limits.side_by_side)]
            stack.callback(self._end)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def _end(self) -> None:
        for worker in self._workers:
            worker.end()
        self._processes.end()

    def compared(self) -> ClientTarget:
        """Return this client as one of two that get the same cases.

        No other records follow those of a case, and the client has more time to react to it.
        """
        target = ClientTarget(self._client, limits=self._limits.compared, each=self._each)
        target.at_once = COMPARED
        return target

    def seeds(self) -> list[Seed]:
        """Return a valid broker's responses to all that the client requests, in each version that it can use.

        Raises CannotRun if no session works at all.
        """
        return seeds(self.survey())

    def survey(self, newest: Mapping[int, int] | None = None) -> frozenset[tuple[int, int]]:
        """Return the (API key, version) that the client requests in valid sessions with narrowed offers.

        newest: API key -> the newest version of interest, if it is known. Raises CannotRun if no session
        works at all.
        """
        return self._asks.versions(newest)

    def newest(self) -> dict[int, int]:
        """Return the newest version that the client requests, by API key.

        Raises CannotRun if it requests nothing.
        """
        return self._asks.newest()

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases; observations come in order, those of earlier culprits after them."""
        return self.run_until(cases, lambda: False)

    def run_until(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """Run cases until `over()` returns True; then no more are begun.

        The run ends after the cases in flight.
        """
        self._asks.know()
        self._left.clear()
        with ThreadPoolExecutor(CONFIRMING) as threads:
            alone, memory = self._alone, self._limits.memory
            looks = self._looks = AlarmConfirmation(threads, self._confirmed, alone, memory)
            sessions = SessionScheduler(
                self._workers,
                self._beside,
                lambda worker, case: self._begin(worker, case, partial(self._ending, case, looks)),
                looks,
                self._limits,
            )
            try:
                yield from sessions.run(cases, over)
            finally:  # a closed generator leaves sessions running
                self._looks = None
                self._left.set()
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self._workers:
                    worker.end()
                self._processes.relieve()

    @property
    def doing(self) -> str:
        """Return the current activity other than new cases, as a message."""
        return f"running {plural(len(self._looks), 'case')} again, alone" if self._looks else ""

    def together(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases one after another in a new process, up to the one that ends it.

        Their alarms need no confirmation.
        """
        self._left.clear()
        yield from map(self._confirmed_alone, self._run_alone(cases))

    def one_by_one(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run each case in its own process, a few at a time; observations come in order.

        Their alarms need no confirmation. If the iterator is closed, the cases in flight end at once.
        """
        self._asks.know()  # here, since threads would run the survey at once
        self._left.clear()
        with ThreadPoolExecutor(ONE_BY_ONE) as threads:
            try:
                for observation in threads.map(lambda case: self._alone([case]), cases):
                    yield self._confirmed_alone(observation)
            finally:
                self._left.set()
                threads.shutdown(wait=False, cancel_futures=True)

    def _confirmed_alone(self, observation: Observation) -> Observation:
        alarming = alarm(observation, self._limits.memory) is not None
        return with_facts(observation, ("confirmed", True)) if alarming else observation

    def _ending(self, case: Case, looks: AlarmConfirmation) -> EndLimits:
        return at_all(self._limits) if self._each else beside(case, self._limits, looks.knows)

    def _alone(self, cases: Sequence[Case]) -> Observation:
        """Return the last observation of cases that run one after another in a new process.

        They run again if the client did not request the response: on a busy machine it may give up before.
        """
        for _ in range(1 + AGAIN):
            *_, observation = self._run_alone(cases)
            if (
                dict(observation.facts).get("served")
                or alarm(observation, self._limits.memory) is not None
            ):
                break
        return observation

    def _run_alone(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Yield the observations of cases in a new process, one after another, up to the first alarm.

        A valid session follows, as after other sessions: an alarm in it is the last case's.
        """
        memory = self._limits.memory
        with self._on_its_own() as worker:
            for case in cases:
                self._begin(worker, case, lambda: again(self._limits))
                observation = finish(worker, self._left)
                yield observation
                if alarm(observation, memory) is not None:
                    return
            self._begin_valid(worker, self._asks.workload(case))
            after = finish(worker, self._left)
            if alarm(after, memory) is not None:
                yield replace(after, case=case)

    def _session(self, workload: str, offer: Offer) -> set[tuple[int, int]]:
        """Return the (API key, version) that the client requests in a valid session."""
        worker = self._workers[0]
        self._begin_valid(worker, workload, offer)
        finish(worker)
        return set(worker.broker.request_counts)

    def recorded(self, case: Case) -> tuple[list[Broker], str]:
        """Return the brokers of a session with a case and of a valid one, and a description of the workload.

        Both run in a new process. Raises CannotRun if the client does not request the case's response.
        """
        seed, workload = case.recipe.seed, self._asks.workload(case)
        offer = narrowed(seed.key, seed.version)
        with self._on_its_own() as worker:
            for _ in range(1 + AGAIN):
                self._begin(worker, case)
                if dict(finish(worker).facts).get("served"):
                    break
            else:
                raise CannotRun(f"{self.name} did not ask for the case's answer")
            brokers = [worker.broker]
            self._begin_valid(worker, workload, offer)
            finish(worker)
        brokers.append(worker.broker)
        return brokers, "as it was started" if self._each else WORKLOADS[workload]

    def _begin(
        self, worker: Worker, case: Case, ending: Callable[[], EndLimits] | None = None
    ) -> None:
        workload = self._asks.workload(case)
        self._starting(lambda: worker.begin(workload, case, ending=ending))

    def _begin_valid(self, worker: Worker, workload: str, offer: Offer = EVERYTHING) -> None:
        self._starting(lambda: worker.begin(workload, offer=offer))

    def _starting(self, begin: Callable[[], None]) -> None:
        try:
            begin()
        except OSError as problem:
            raise CannotRun(f"{self.name} can't be started: {problem}") from None

    def _beside(self) -> Worker:
        """Return a worker whose alarms are confirmed later; a command's limits are the whole ones."""
        limits = self._limits if self._each else self._limits.alarming
        return self._worker(self._processes, limits, tells=False)

    def _worker(self, processes: ClientProcesses, limits: Limits, *, tells: bool) -> Worker:
        dialect, guides = self._client.library, self._guides
        return Worker(processes, limits, dialect=dialect, tells=tells, guides=guides)

    @contextlib.contextmanager
    def _on_its_own(self) -> Iterator[Worker]:
        """Return a worker whose session is alone in its process."""
        with selectors.DefaultSelector() as selector:
            processes = self._started(selector, at_once=1)
            worker = self._worker(processes, self._limits, tells=True)
            try:
                yield worker
            finally:
                worker.end()
                processes.end()

    def _started(self, selector: selectors.BaseSelector, *, at_once: int) -> ClientProcesses:
        return ClientProcesses(
            self._start, selector, at_once=at_once, much_s=self._limits.much_s, each=self._each
        )

    def _start(self, selector: selectors.BaseSelector, bootstrap: str) -> Child:
        program = self._ready
        if self._each:
            line = [word.format(bootstrap=bootstrap, topic=TOPIC) for word in program.line]
            program = program._replace(line=line)
        counted = self.meter.begin() if self.meter is not None else None
        return Child(program, self._folder, selector, server=self._server, counted=counted)
