"""A client as a target: sessions with it, one a case, several side by side."""

from __future__ import annotations

import contextlib
import math
import selectors
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from barnabas.fuzz.answering.broker import Broker
from barnabas.fuzz.answering.cluster import TOPIC
from barnabas.fuzz.answering.offer import EVERYTHING, Offer, narrowed
from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Role, Seed
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.coverage.clients import meter
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.clients.alarms import Kind, alarm, spinning
from barnabas.fuzz.targets.clients.child import Child
from barnabas.fuzz.targets.clients.confirming import Confirming, with_facts
from barnabas.fuzz.targets.clients.limits import OF_LIBRARY, Limits
from barnabas.fuzz.targets.clients.worker import Worker
from barnabas.fuzz.targets.clients.workloads import SURVEYED, WORKLOADS, chosen
from barnabas.peers.apache.guard import Guard
from barnabas.peers.clients.client import Client, Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.registry import COUNTED
from barnabas.plural import plural

CONFIRMING: Final = 8
"""Threads that run cases again, alone, while the other sessions go on: most of them wait for who hangs."""
BUSY: Final = 2
"""The part of the sessions side by side that goes on while we are what they wait for, on a busy machine."""
PROCESSES: Final = 3
"""So many times as many processes as sessions side by side there are at most: those of sessions that are
over and do not end are waited for beside."""
SURVEYS: Final = 2
"""How often all workloads are gone through in vain for an API that is new: some end early."""
AGAIN: Final = 1
"""How often a case is run again whose session ended before the client asked for its answer."""
COMPARED: Final = 200
"""Cases that one of two is best given at once: both have each before anything is known of it."""
PATIENCE: Final = 0.25
"""Seconds for which a client that is compared may sit on an answer."""
_WAKES: Final = 0.02
"""Seconds after which it is looked whether such a thread is done."""


class ClientTarget:
    """Runs cases with a client of some release; see `barnabas.fuzz.targets.target.Target`.

    A case whose death, hang or memory was seen is run again alone, in a new process: the fact
    `confirmed` says whether it did the same there. If it did not, one of the cases before it may have:
    that one is given once more, with what it did alone; if none does, they are named together. What is like
    one that was confirmed is not run again, and who computes without end, as one that was confirmed, is ended
    sooner.
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
        itself; else it runs one session after the other."""
        self.name = client.name
        self._client = client
        self._limits = limits or OF_LIBRARY.get(client.library, Limits())
        self._count = side_by_side or self._limits.side_by_side
        self._each = each
        self._running = contextlib.ExitStack()
        self.doing = ""
        """What it does beside new cases, in words for who waits."""
        self._confirmed: set[Kind] = set()
        self._left = threading.Event()
        """Set once nobody waits for cases that are looked at again."""
        self._asks: dict[str, set[tuple[int, int]]] = {}
        """Workload -> the APIs and versions that are asked for in it."""
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
            self._folder = Path(tempfile.mkdtemp(prefix="barnabas-client-"))
            self._guard = Guard(self._folder)
            stack.callback(self._guard.close)
            if self._counts:
                self.meter = meter(self._client, self._ready)
                stack.callback(self.meter.close)
            self._selector = stack.enter_context(selectors.DefaultSelector())
            self._workers = [self._beside() for _ in range(self._count)]
            stack.callback(self._end)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def _end(self) -> None:
        for worker in self._workers:
            worker.end()

    def compared(self) -> ClientTarget:
        """The same as one of two that get the same cases: no other records come behind those of a case, and
        it has more time to show what it makes of it."""
        limits = self._limits._replace(last=True, patience_s=PATIENCE)
        one = ClientTarget(self._client, limits=limits, side_by_side=self._count, each=self._each)
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
        found = set()
        own = self.newest() if newest is None else newest
        for key, version in own.items():
            if newest is None:
                found.add((key, version))
            for older in range(EVERYTHING.get(key, (version,))[0], version + (newest is not None)):
                if (key, older) in self._session(
                    chosen(key, older, self._asks), narrowed(key, older)
                ):
                    found.add((key, older))
        return frozenset(found)

    def newest(self) -> dict[int, int]:
        """API key -> the newest version that it asks for. Raises CannotRun if it asks nothing."""
        newest: dict[int, int] = {}
        in_vain = 0
        while in_vain < (1 if self._each else SURVEYS):
            before = len(newest)
            for workload, offer in (("any", EVERYTHING),) if self._each else SURVEYED:
                for key, version in sorted(self._session(workload, offer)):
                    newest[key] = max(version, newest.get(key, 0))
                    self._asks.setdefault(workload, set()).add((key, version))
            in_vain = 0 if len(newest) > before else in_vain + 1
        if not newest:
            raise CannotRun(f"{self.name} sent no request to the broker; is it a Kafka client?")
        return newest

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases; observations come in their order, those of earlier cases to blame behind them."""
        return self.run_until(cases, lambda: False)

    def run_until(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """The same; once it is `over()` no more are begun, and it ends behind those that are under way."""
        if not self._asks:
            self.newest()
        self._left.clear()
        with ThreadPoolExecutor(CONFIRMING) as threads:
            try:
                yield from self._in_order(cases, over, threads)
            finally:  # who asks for no more leaves sessions behind
                self._left.set()
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self._workers:
                    if worker.idle:
                        worker.relieve()
                    else:
                        worker.end()

    def together(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases one after the other in a new process, up to the one that ends it: what they come to needs
        no second look."""
        self._left.clear()
        for one in self._in_turn(cases):
            yield with_facts(one, ("confirmed", True)) if self._alarming(one) else one

    def _in_order(
        self, cases: Sequence[Case], over: Callable[[], bool], threads: ThreadPoolExecutor
    ) -> Iterator[Observation]:
        waiting = list(reversed(list(enumerate(cases))))
        running: dict[int, Worker] = {}
        unasked: Counter[int] = Counter()
        done: dict[int, list[Observation]] = {}
        looks = Confirming(
            threads, self._confirmed, lambda some: self._alone(some), self._limits.memory
        )
        busy, begun = False, 1  # the first one is, however little time there is
        for place in range(len(cases)):
            while place not in done:
                if over():
                    if place >= begun:
                        return
                    waiting = [one for one in waiting if one[0] < begun]
                most = -(-self._count // BUSY) if busy else self._count
                while waiting and (free := self._free(most)) is not None:
                    at, case = waiting.pop()
                    begun = max(begun, at + 1)
                    self._begin(free, case, self._spins_s(case, looks))
                    running[at] = free
                self.doing = f"running {plural(len(looks), 'case')} again, alone" if looks else ""
                busy = _wait(self._selector, self._workers, _WAKES if looks else None)
                done.update(looks.ended())
                for at, worker in list(running.items()):
                    observation = worker.finished()
                    if observation is None:
                        continue
                    del running[at]
                    if alarm(observation, self._limits.memory) is not None:
                        found = looks.see(at, observation, [*worker.before])
                        if found is not None:
                            done[at] = found
                    elif dict(observation.facts).get("served"):
                        done[at] = [observation]
                    elif unasked[at] == AGAIN:  # it was never sent
                        done[at] = [with_facts(observation, (SET_ASIDE, True))]
                    else:
                        unasked[at] += 1
                        waiting.append((at, observation.case))
            yield from done.pop(place)

    def _free(self, most: int) -> Worker | None:
        """Who may begin a session, if there is room for one among so many."""
        if sum(not (worker.idle or worker.ending) for worker in self._workers) >= most:
            return None
        for worker in self._workers:
            if worker.idle:
                return worker
        if len(self._workers) == PROCESSES * self._count:
            return None
        self._workers.append(self._beside())
        return self._workers[-1]

    def _spins_s(self, case: Case, looks: Confirming) -> float:
        """Processor time behind its end with which a session is an alarm."""
        if self._each:
            return math.inf
        return self._limits.much_s if looks.knows(spinning(case)) else self._limits.spins_s

    def _alarming(self, observation: Observation) -> bool:
        return alarm(observation, self._limits.memory) is not None

    def _alone(self, cases: Sequence[Case]) -> Observation:
        """The last observation of some cases, one after the other in a new process."""
        return [*self._in_turn(cases)][-1]

    def _in_turn(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """The observations of cases, one after the other in a new process, up to the first that is an
        alarm. A valid session follows, as others had: what ends in it, the last case ended."""
        with selectors.DefaultSelector() as selector:
            worker = self._worker(selector, self._limits)
            try:
                for case in cases:
                    self._begin(worker, case, self._limits.hung_s / 2)
                    observation = self._finish(selector, worker, self._left)
                    yield observation
                    if self._alarming(observation):
                        return
                workload = self._workload(case)
                self._starting(lambda: worker.begin(workload))
                after = self._finish(selector, worker, self._left)
                if self._alarming(after):
                    yield replace(after, case=case)
            finally:
                worker.end()

    def _session(self, workload: str, offer: Offer) -> set[tuple[int, int]]:
        """What is asked for in a valid session."""
        worker = self._workers[0]
        self._starting(lambda: worker.begin(workload, offer=offer))
        self._finish(self._selector, worker)
        return set(worker.broker.asked)

    def _workload(self, case: Case) -> str:
        seed, session = case.recipe.seed, case.recipe.session
        if session in WORKLOADS:
            return session
        if not self._asks:
            self.newest()
        return chosen(seed.key, seed.version, self._asks)

    def recorded(self, case: Case) -> tuple[list[Broker], str]:
        """The brokers of a session with a case and of a valid one, in a new process, and what the client
        does in them. Raises CannotRun if it does not ask for the case."""
        seed, workload = case.recipe.seed, self._workload(case)
        offer = narrowed(seed.key, seed.version)
        with selectors.DefaultSelector() as selector:
            worker = self._worker(selector, self._limits)
            try:
                for _ in range(1 + AGAIN):
                    self._begin(worker, case)
                    if dict(self._finish(selector, worker).facts).get("served"):
                        break
                else:
                    raise CannotRun(f"{self.name} did not ask for the case's answer")
                brokers = [worker.broker]
                self._starting(lambda: worker.begin(workload, offer=offer))
                self._finish(selector, worker)
            finally:
                worker.end()
        brokers.append(worker.broker)
        return brokers, "as it was started" if self._each else WORKLOADS[workload]

    def _begin(self, worker: Worker, case: Case, spins_s: float = math.inf) -> None:
        workload = self._workload(case)
        self._starting(lambda: worker.begin(workload, case, spins_s=spins_s))

    def _starting(self, begin: Callable[[], None]) -> None:
        try:
            begin()
        except OSError as problem:
            raise CannotRun(f"{self.name} can't be started: {problem}") from None

    def _finish(
        self, selector: selectors.BaseSelector, worker: Worker, left: threading.Event | None = None
    ) -> Observation:
        """Raises CancelledError once nobody waits for it."""
        while left is None or not left.is_set():
            _wait(selector, [worker], None if left is None else _WAKES)
            observation = worker.finished()
            if observation is not None:
                return observation
        raise CancelledError

    def _beside(self) -> Worker:
        """One whose alarms are looked at again; what a command does is none."""
        limits = self._limits if self._each else self._limits.alarming
        return self._worker(self._selector, limits, tells=False)

    def _worker(
        self, selector: selectors.BaseSelector, limits: Limits, *, tells: bool = True
    ) -> Worker:
        def start(selector: selectors.BaseSelector, bootstrap: str) -> Child:
            line = self._ready.line
            if self._each:
                line = [one.format(bootstrap=bootstrap, topic=TOPIC) for one in line]
            return Child(
                line,
                self._folder,
                selector,
                self._guard,
                environment=self._ready.environment,
                counted=self.meter.begin() if self.meter is not None else None,
            )

        return Worker(
            start,
            selector,
            limits,
            each=self._each,
            dialect=self._client.library,
            tells=tells,
            guides=self._guides,
        )


def _wait(
    selector: selectors.BaseSelector, workers: Sequence[Worker], most: float | None = None
) -> bool:
    """Until something comes or is due, for so many seconds at most; then let it be said. Whether it had come
    already: clients wait for us, and others would make them wait longer."""
    due = [moment for worker in workers if (moment := worker.tick()) is not None]
    seconds = max(0.0, min(due) - time.monotonic()) if due else None
    if most is not None:
        seconds = most if seconds is None else min(seconds, most)
    here = selector.select(0)
    for key, events in here or selector.select(seconds):
        key.data(events)
    return bool(here)
