"""Cases one after the other in a process of their own, in which nothing runs beside them."""

from __future__ import annotations

import selectors
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager
from dataclasses import replace

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.targets.clients.alarms import alarm
from barnabas.fuzz.targets.clients.side_by_side import WAKES, wait
from barnabas.fuzz.targets.clients.worker import Worker

Making = Callable[[selectors.BaseSelector], AbstractContextManager[Worker]]
"""Makes a worker with processes of its own, which end with it."""


class Alone:
    """Runs cases alone.

    begin: a session with a worker, of a case, or a valid one where a case would be. memory: bytes that are an
    alarm. left: set once nobody waits for what it runs.
    """

    def __init__(
        self,
        make: Making,
        begin: Callable[[Worker, Case], None],
        begin_valid: Callable[[Worker, Case], None],
        memory: int,
        left: threading.Event,
    ) -> None:
        self._make, self._begin, self._begin_valid = make, begin, begin_valid
        self._memory, self._left = memory, left

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """The observations of cases, one after the other in a new process, up to the first that is an
        alarm. A valid session follows, as others had: what ends in it, the last case ended."""
        with selectors.DefaultSelector() as selector, self._make(selector) as worker:
            for case in cases:
                self._begin(worker, case)
                observation = finish(selector, worker, self._left)
                yield observation
                if alarm(observation, self._memory) is not None:
                    return
            self._begin_valid(worker, case)
            after = finish(selector, worker, self._left)
            if alarm(after, self._memory) is not None:
                yield replace(after, case=case)


def finish(
    selector: selectors.BaseSelector, worker: Worker, left: threading.Event | None = None
) -> Observation:
    """The observation of a worker's session. left: raises CancelledError once that is set."""
    while left is None or not left.is_set():
        wait(selector, [worker], None if left is None else WAKES)
        observation = worker.finished()
        if observation is not None:
            return observation
    raise CancelledError
