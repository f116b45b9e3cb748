"""A client as a target: sessions with it, one a case, several side by side."""

from __future__ import annotations

import contextlib
import selectors
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Final, Self

from barnabas.fuzz.answering.broker import Broker
from barnabas.fuzz.answering.cluster import TOPIC
from barnabas.fuzz.answering.offer import EVERYTHING, Offer, narrowed
from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Role, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.coverage.clients import meter
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.clients.alarms import Kind, alarm
from barnabas.fuzz.targets.clients.child import Child
from barnabas.fuzz.targets.clients.confirming import Confirming, with_facts
from barnabas.fuzz.targets.clients.forked import ForkServer
from barnabas.fuzz.targets.clients.limits import OF_LIBRARY, Ending, Limits, again, at_all, beside
from barnabas.fuzz.targets.clients.processes import Processes
from barnabas.fuzz.targets.clients.side_by_side import AGAIN, SideBySide, finish
from barnabas.fuzz.targets.clients.survey import Survey
from barnabas.fuzz.targets.clients.worker import Worker
from barnabas.fuzz.targets.clients.workloads import WORKLOADS
from barnabas.peers import processes
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.registry import COUNTED
from barnabas.plural import plural

CONFIRMING: Final = 16
"""Threads that run cases again, alone, while the other sessions go on: most of them wait for who hangs."""
COMPARED: Final = 200
"""Cases that one of two is best given at once: both have each before anything is known of it."""


class ClientTarget:
    """Runs cases with a client of some release; see `barnabas.fuzz.targets.target.Target`.

    A case whose death, hang or memory was seen is run again alone, in a new process: the fact
    `confirmed` says whether it did the same there. If it did not, one of the cases before it may have:
    that one is given once more, with what it did alone; if none does, they are named together. What is like
    one that was confirmed is not run again, and who computes without end, as one that was confirmed, is ended
    sooner. Where sessions share a process, what becomes of it is no case's that does not do it alone, too.
    Meanwhile the sessions of other cases go on: nobody waits for who hangs. A case that the client does not
    ask for was not sent: it is set aside, and counted as such.
    """

    role: Role = "client"
    at_once = 5000
    """Cases that it is best given at once: behind the last of them those that hang are waited for and run
    again, which takes as long as some hundred others."""

    def __init__(
        self,
        client: Client,
        *,
        limits: Limits | None = None,
        side_by_side: int | None = None,
        each: bool = False,
    ) -> None:
        """each: its program is started for every case, with {bootstrap} and {topic} put in, and ends by
        itself; else it runs many sessions."""
        self.name = client.name
        self._client = client
        self._limits = limits or OF_LIBRARY.get(client.library, Limits())
        if side_by_side:
            self._limits = self._limits._replace(side_by_side=side_by_side)
        self._each = each
        self._running = contextlib.ExitStack()
        self._looks: Confirming | None = None
        self._confirmed: set[Kind] = set()
        self._left = threading.Event()
        """Set once nobody waits for cases that are looked at again."""
        self._asks = Survey(self.name, self._session, each=each)
        self._counts = self._guides = False
        self.meter: Meter | None = None
        """Of the lines that its programs reach, while it runs, if they count them."""

    def count(self, *, guiding: bool) -> None:
        """Have its programs count the lines that they reach, before it is started. guiding: each case is told
        with the new ones that it reached: a session has a process of its own, which is asked behind it.
        Raises Misuse."""
        if self._client.counted is None:
            raise Misuse(
                f"{self.name}: its lines can't be counted; those of {', '.join(COUNTED)} can"
            )
        self._guides = guiding
        self._counts = True

    def reached(self) -> Reach:
        """The lines that were reached; between cases. Raises CannotRun."""
        assert self.meter is not None  # noqa: S101 (`count` comes first)
        return self.meter.read()

    def anew(self) -> None:
        """Nothing to do: a session leaves nothing behind."""

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
            # of several sessions, nobody could say which one reached a line
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
        """The same as one of two that get the same cases: no other records come behind those of a case, and
        it has more time to show what it makes of it."""
        one = ClientTarget(self._client, limits=self._limits.compared, each=self._each)
        one.at_once = COMPARED
        return one

    def seeds(self) -> list[Seed]:
        """What a valid broker answers to all that this client asks for, in each version it can be
        brought to ask in. Raises CannotRun if no session with it works at all."""
        return seeds(self.survey())

    def survey(self, newest: Mapping[int, int] | None = None) -> frozenset[tuple[int, int]]:
        """The (API key, version) that this client asks for: valid sessions, with offers narrowed to one
        version after the other. newest: API key -> the newest version of interest, for who knows it already.
        Raises CannotRun if no session with it works at all."""
        return self._asks.versions(newest)

    def newest(self) -> dict[int, int]:
        """API key -> the newest version that it asks for. Raises CannotRun if it asks nothing."""
        return self._asks.newest()

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases; observations come in their order, those of earlier cases to blame behind them."""
        return self.run_until(cases, lambda: False)

    def run_until(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """The same; once it is `over()` no more are begun, and it ends behind those that are under way."""
        self._asks.know()
        self._left.clear()
        with ThreadPoolExecutor(CONFIRMING) as threads:
            alone, memory = self._alone, self._limits.memory
            looks = self._looks = Confirming(threads, self._confirmed, alone, memory)
            sessions = SideBySide(
                self._workers,
                self._beside,
                lambda worker, case: self._begin(worker, case, partial(self._ending, case, looks)),
                looks,
                self._limits,
            )
            try:
                yield from sessions.run(cases, over)
            finally:  # who asks for no more leaves sessions behind
                self._looks = None
                self._left.set()
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self._workers:
                    worker.end()
                self._processes.relieve()

    @property
    def doing(self) -> str:
        """What it does beside new cases, in words for who waits."""
        return f"running {plural(len(self._looks), 'case')} again, alone" if self._looks else ""

    def together(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases one after the other in a new process, up to the one that ends it: what they come to needs
        no second look."""
        self._left.clear()
        for one in self._run_alone(cases):
            alarming = alarm(one, self._limits.memory) is not None
            yield with_facts(one, ("confirmed", True)) if alarming else one

    def _ending(self, case: Case, looks: Confirming) -> Ending:
        return at_all(self._limits) if self._each else beside(case, self._limits, looks.knows)

    def _alone(self, cases: Sequence[Case]) -> Observation:
        """The last observation of some cases, one after the other in a new process; once more where the
        client did not ask for it: on a busy machine it may give up before."""
        for _ in range(1 + AGAIN):
            *_, seen = self._run_alone(cases)
            if dict(seen.facts).get("served") or alarm(seen, self._limits.memory) is not None:
                break
        return seen

    def _run_alone(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """The observations of cases, one after the other in a new process, up to the first that is an
        alarm. A valid session follows, as others had: what ends in it, the last case ended."""
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
        """What is asked for in a valid session."""
        worker = self._workers[0]
        self._begin_valid(worker, workload, offer)
        finish(worker)
        return set(worker.broker.asked)

    def recorded(self, case: Case) -> tuple[list[Broker], str]:
        """The brokers of a session with a case and of a valid one, in a new process, and what the client
        does in them. Raises CannotRun if it does not ask for the case."""
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
        self, worker: Worker, case: Case, ending: Callable[[], Ending] | None = None
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
        """One whose alarms are looked at again; what a command does is none."""
        limits = self._limits if self._each else self._limits.alarming
        return self._worker(self._processes, limits, tells=False)

    def _worker(self, processes: Processes, limits: Limits, *, tells: bool) -> Worker:
        dialect, guides = self._client.library, self._guides
        return Worker(processes, limits, dialect=dialect, tells=tells, guides=guides)

    @contextlib.contextmanager
    def _on_its_own(self) -> Iterator[Worker]:
        """One beside whose session there is no other in its process."""
        with selectors.DefaultSelector() as selector:
            processes = self._started(selector, at_once=1)
            worker = self._worker(processes, self._limits, tells=True)
            try:
                yield worker
            finally:
                worker.end()
                processes.end()

    def _started(self, selector: selectors.BaseSelector, *, at_once: int) -> Processes:
        return Processes(
            self._start, selector, at_once=at_once, much_s=self._limits.much_s, each=self._each
        )

    def _start(self, selector: selectors.BaseSelector, bootstrap: str) -> Child:
        program = self._ready
        if self._each:
            line = [one.format(bootstrap=bootstrap, topic=TOPIC) for one in program.line]
            program = program._replace(line=line)
        counted = self.meter.begin() if self.meter is not None else None
        return Child(program, self._folder, selector, server=self._server, counted=counted)
