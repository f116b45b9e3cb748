"""Threads that keep computing after all cases are over, and the case on which they compute.

Handling that case takes far longer than its size justifies, or never ends. For an API whose response may come
late, nothing else shows this.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import COMPUTES, Death, Observation
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.process_usage import threads
from barnabas.fuzz.targets.service import Elsewhere, Service

LONG_S: Final = 5.0
"""Seconds of processor time that a thread has used without a pause."""

BUSY: Final = 0.8
"""Share of the time in which a computing thread runs, or is ready to run."""

_FIRST_S: Final = 0.1
_FIRST_SHARE: Final = 0.1
_LOOK_S: Final = 1.0
"""Seconds between two looks. The first look is shorter and needs a smaller share: most threads come to rest
before it. The time that a thread waited for a processor is known once it runs again, which takes a while on a
busy machine."""

IN_VAIN: Final = 3
"""Searches without a culprit after which the process is only restarted."""


class Send(Protocol):
    """Sends cases to a process, and restarts it."""

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        """Send cases, with a probe after them. Raises CannotRun."""
        ...

    def restart(self) -> None:
        """Restart the process. Raises CannotRun."""
        ...


class BusyThreadFinder:
    """Finds computing threads of one service. clock, sleep: of time, in seconds."""

    def __init__(
        self,
        service: Service,
        send: Send,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service, self._send = service, send
        self._clock, self._sleep = clock, sleep
        self._in_vain = 0

    def find_culprit(
        self, observations: Iterable[Observation], over: Callable[[], bool] = lambda: False
    ) -> Observation | None:
        """Return the case on which a thread computes, or that ended the process meanwhile.

        Overdue cases are sent alone to a restarted process, up to the first one that makes a thread compute;
        it gets the fact COMPUTES. None if all threads come to rest, if no case does it alone, or once
        `over()`.

        Args:
            observations: The observations of cases that are over.
            over: Once it returns True, the search ends.

        Raises:
            CannotRun: A restart failed.
        """
        late = [
            observation
            for observation in observations
            if observation.overdue and COMPUTES not in dict(observation.facts)
        ]
        # nothing is known of a broker elsewhere
        if not late or isinstance(self._service, Elsewhere) or self._trouble(over) is None:
            return None
        self._send.restart()
        if self._in_vain >= IN_VAIN:
            return None
        for observation in late:
            if over():
                return None
            self._send.perform((observation.case,))
            if (trouble := self._trouble(over)) is not None:
                return self._told(observation, trouble)
        self._in_vain += 1
        return None

    def _trouble(self, over: Callable[[], bool]) -> Death | int | None:
        """Return the process's exit, or the thread that computes."""
        thread = self.find_thread(over)
        return self._service.death() or thread

    def find_thread(self, over: Callable[[], bool] = lambda: False) -> int | None:
        """Return the id of a thread that computes for long; None if there is none, or once `over()`."""
        pid: int | None = getattr(self._service, "pid", None)
        first = latest = {} if pid is None else threads(pid)
        wait, share = _FIRST_S, _FIRST_SHARE
        while pid is not None and latest and not over():
            at = self._clock()
            self._sleep(wait)
            now, busy = threads(pid), share * (self._clock() - at)
            latest = {
                thread: now[thread]
                for thread, before in latest.items()
                if thread in now and sum(now[thread]) - sum(before) >= busy
            }
            for thread, (had, _) in latest.items():
                if had - first[thread][0] >= LONG_S:
                    return thread
            wait, share = _LOOK_S, BUSY
        return None

    def _told(self, observation: Observation, trouble: Death | int) -> Observation:
        """Return the observation with the trouble, after a restart of the process."""
        frames: tuple[str, ...] = ()
        frames_of_thread: Callable[[int], tuple[str, ...]] | None = getattr(
            self._service, "where", None
        )
        if frames_of_thread is not None and isinstance(trouble, int):
            frames = frames_of_thread(trouble)
        with contextlib.suppress(CannotRun):  # the next case reports the failure
            self._send.restart()
        if isinstance(trouble, Death):
            return replace(observation, death=trouble)
        return replace(observation, facts=(*observation.facts, (COMPUTES, [LONG_S, *frames])))
