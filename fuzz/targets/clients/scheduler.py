"""A scheduler of concurrent sessions, most of which wait; observations come in the order of the cases."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import NOT_REQUESTED, SET_ASIDE, Observation
from barnabas.fuzz.targets.clients.alarms import alarm
from barnabas.fuzz.targets.clients.confirmation import AlarmConfirmation, with_facts
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.worker import Worker

BUSY: Final = 2
"""Divisor of the number of sessions while clients wait for us, on a busy machine."""
MORE: Final = 3
"""Factor of the number of concurrent sessions, up to which there may be workers: those told to end that do
not are waited for in addition."""
AGAIN: Final = 2
"""How often a case runs again whose session ended before the client requested its response."""
FIRST: Final = 2
"""Sessions at first; one more for each that is over, since first sessions are slow."""
WAKES: Final = 0.02
"""Seconds between two looks for finished confirmations."""


class SessionScheduler:
    """Runs the sessions of one run.

    Args:
        workers: The workers; new ones are added.
        make: Makes a worker.
        begin: Begins a case's session with a worker.
        looks: Confirms alarms.
        limits: The client's limits.
    """

    def __init__(
        self,
        workers: list[Worker],
        make: Callable[[], Worker],
        begin: Callable[[Worker, Case], None],
        looks: AlarmConfirmation,
        limits: Limits,
    ) -> None:
        self._workers, self._make = workers, make
        self._begin, self._looks, self._limits = begin, looks, limits
        self._waiting: list[tuple[int, Case]] = []
        """Indices and cases that are not begun, the next one last."""
        self._running: dict[int, Worker] = {}
        self._unasked: Counter[int] = Counter()
        """How often the client did not request a case's response, by its index."""
        self._done: dict[int, list[Observation]] = {}
        self._begun, self._ended = 1, 0  # the first case always runs

    def run(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        """Run cases and yield their observations in order.

        Once `over()` returns True, no more are begun, and the run ends after those in flight.
        """
        self._waiting = list(reversed(list(enumerate(cases))))
        busy = False
        for index in range(len(cases)):
            while index not in self._done:
                if over():
                    if index >= self._begun:
                        return
                    self._waiting = [
                        waiting for waiting in self._waiting if waiting[0] < self._begun
                    ]
                self._begin_waiting(busy=busy)
                busy = wait(self._workers, WAKES if self._looks else None)
                self._done.update(self._looks.ended())
                for at, worker in list(self._running.items()):
                    observation = worker.finished()
                    if observation is not None:
                        del self._running[at]
                        self._ended += 1
                        self._see(at, observation, worker)
            yield from self._done.pop(index)

    def _begin_waiting(self, *, busy: bool) -> None:
        """Begin sessions while there is room. busy: clients wait for us."""
        count = self._limits.side_by_side
        most = min(-(-count // BUSY) if busy else count, FIRST + self._ended)
        while self._waiting and (worker := self._free(most)) is not None:
            at, case = self._waiting.pop()
            self._begun = max(self._begun, at + 1)
            self._begin(worker, case)
            self._running[at] = worker

    def _see(self, at: int, observation: Observation, worker: Worker) -> None:
        """Take the observation of a case whose session is over."""
        if alarm(observation, self._limits.memory) is not None:
            observations = self._looks.see(at, observation, [*worker.before])
            if observations is not None:
                self._done[at] = observations
        elif dict(observation.facts).get("served"):
            self._done[at] = [observation]
        elif self._unasked[at] == AGAIN:  # it was never sent
            self._done[at] = [with_facts(observation, (SET_ASIDE, NOT_REQUESTED))]
        else:
            self._unasked[at] += 1
            self._waiting.append((at, observation.case))

    def _free(self, most: int) -> Worker | None:
        """Return a worker that can begin a session, if there is room among `most` sessions."""
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
    """Wait until bytes come or something is due for workers of one selector, and handle it.

    Args:
        workers: The workers.
        most: The maximal wait in seconds.

    Returns:
        Whether bytes had come already: clients wait for us, and more sessions would make them wait longer.
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


def finish(worker: Worker, cancelled: threading.Event | None = None) -> Observation:
    """Return the observation of a worker's session. Raises CancelledError once `cancelled` is set."""
    while cancelled is None or not cancelled.is_set():
        wait([worker], None if cancelled is None else WAKES)
        observation = worker.finished()
        if observation is not None:
            return observation
    raise CancelledError
