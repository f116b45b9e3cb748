"""Cases in sessions side by side, most of which wait: their observations come in the order of the cases."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.targets.clients.alarms import alarm
from barnabas.fuzz.targets.clients.confirming import Confirming, with_facts
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.worker import Worker

BUSY: Final = 2
"""The part of the sessions side by side that goes on while we are what they wait for, on a busy machine."""
MORE: Final = 3
"""So many times as many sessions as side by side there are at most: those that are over and do not end are
waited for beside."""
AGAIN: Final = 2
"""How often a case is run again whose session ended before the client asked for its answer."""
FIRST: Final = 2
"""Sessions at first; one more for each that is over, since first ones are slow."""
WAKES: Final = 0.02
"""Seconds after which it is looked whether a thread that runs cases again is done."""


class SideBySide:
    """Sessions of one run.

    workers: those there are; others are made by `make` and stay in it. begin: a case's session with a worker.
    looks: second looks at alarms.
    """

    def __init__(
        self,
        workers: list[Worker],
        make: Callable[[], Worker],
        begin: Callable[[Worker, Case], None],
        looks: Confirming,
        limits: Limits,
    ) -> None:
        self._workers, self._make = workers, make
        self._begin, self._looks, self._limits = begin, looks, limits
        self._waiting: list[tuple[int, Case]] = []
        """Places and cases that are not begun, the next one last."""
        self._running: dict[int, Worker] = {}
        self._unasked: Counter[int] = Counter()
        """How often the client did not ask for the answer that is a case, by its place."""
        self._done: dict[int, list[Observation]] = {}
        self._begun, self._ended = 1, 0  # the first one is begun, however little time there is

    def run(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """Run cases; once it is `over()` no more are begun, and it ends behind those that are under way."""
        self._waiting = list(reversed(list(enumerate(cases))))
        busy = False
        for place in range(len(cases)):
            while place not in self._done:
                if over():
                    if place >= self._begun:
                        return
                    self._waiting = [one for one in self._waiting if one[0] < self._begun]
                self._begin_waiting(busy=busy)
                busy = wait(self._workers, WAKES if self._looks else None)
                self._done.update(self._looks.ended())
                for at, worker in list(self._running.items()):
                    observation = worker.finished()
                    if observation is not None:
                        del self._running[at]
                        self._ended += 1
                        self._see(at, observation, worker)
            yield from self._done.pop(place)

    def _begin_waiting(self, *, busy: bool) -> None:
        """Begin as many sessions as there is room for. busy: clients wait for us."""
        count = self._limits.side_by_side
        most = min(-(-count // BUSY) if busy else count, FIRST + self._ended)
        while self._waiting and (free := self._free(most)) is not None:
            at, case = self._waiting.pop()
            self._begun = max(self._begun, at + 1)
            self._begin(free, case)
            self._running[at] = free

    def _see(self, at: int, observation: Observation, worker: Worker) -> None:
        """Take what was seen of a case: its session is over."""
        if alarm(observation, self._limits.memory) is not None:
            found = self._looks.see(at, observation, [*worker.before])
            if found is not None:
                self._done[at] = found
        elif dict(observation.facts).get("served"):
            self._done[at] = [observation]
        elif self._unasked[at] == AGAIN:  # it was never sent
            self._done[at] = [with_facts(observation, (SET_ASIDE, True))]
        else:
            self._unasked[at] += 1
            self._waiting.append((at, observation.case))

    def _free(self, most: int) -> Worker | None:
        """Who may begin a session, if there is room for one among so many."""
        if sum(not (worker.idle or worker.ending) for worker in self._workers) >= most:
            return None
        for worker in self._workers:
            if worker.idle:
                return worker
        if len(self._workers) >= MORE * self._limits.side_by_side:
            return None
        self._workers.append(self._make())
        return self._workers[-1]


def wait(workers: Sequence[Worker], most: float | None = None) -> bool:
    """Wait until something comes or is due for workers of one selector, and let it be said.

    most: seconds. Returns whether something had come already: clients wait for us, and others would make them
    wait longer.
    """
    selector = workers[0].selector
    due = [moment for worker in workers if (moment := worker.tick()) is not None]
    seconds = max(0.0, min(due) - time.monotonic()) if due else None
    if most is not None:
        seconds = most if seconds is None else min(seconds, most)
    here = selector.select(0)
    for key, events in here or selector.select(seconds):
        key.data(events)
    return bool(here)


def finish(worker: Worker, left: threading.Event | None = None) -> Observation:
    """Return the observation of a worker's session. left: raises CancelledError once that is set."""
    while left is None or not left.is_set():
        wait([worker], None if left is None else WAKES)
        observation = worker.finished()
        if observation is not None:
            return observation
    raise CancelledError
