"""A thread that computes on although nobody is under way any more, and the case that it computes on: its
handling takes far longer than its size lets expect, or never ends. Where an API may be answered late, nothing
else tells of it.
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
from barnabas.fuzz.targets.processor import threads
from barnabas.fuzz.targets.service import Elsewhere, Service

LONG_S: Final = 5.0
"""Seconds of a processor that a thread has had without a pause."""

BUSY: Final = 0.8
"""Share of the time in which a thread that computes has a processor, or stands ready for one."""

_FIRST_S: Final = 0.1
_FIRST_SHARE: Final = 0.1
_LOOK_S: Final = 1.0
"""Seconds from one look to the next, and the share that is enough in the first: most come to rest before it.
For how long a thread has stood ready is known once it runs again, which on a busy machine takes a while."""

IN_VAIN: Final = 3
"""Searches without a case that does it alone; from then on it is only started anew."""


class Send(Protocol):
    """What sends cases to a process, and starts it anew."""

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        """Send cases, with a probe behind them. Raises CannotRun."""
        ...

    def restart(self) -> None:
        """Start it anew. Raises CannotRun."""
        ...


class Computing:
    """Of one service. clock, sleep: of time, in seconds."""

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

    def behind(
        self, seen: Iterable[Observation], over: Callable[[], bool] = lambda: False
    ) -> Observation | None:
        """The case that a thread computes on, with the fact COMPUTES, or that ended the process meanwhile.
        None: all came to rest, no case does it alone, or it is `over()` before that is known. Those that had
        no answer in time are sent alone, to a process that was started anew, up to the first that does it.
        Raises CannotRun.

        seen: what nobody is under way of any more.
        """
        late = [one for one in seen if one.overdue and COMPUTES not in dict(one.facts)]
        # of a process that is somebody else's nothing is known
        if not late or isinstance(self._service, Elsewhere) or self._trouble(over) is None:
            return None
        self._send.restart()
        if self._in_vain >= IN_VAIN:
            return None
        for one in late:
            if over():
                return None
            self._send.perform((one.case,))
            if (trouble := self._trouble(over)) is not None:
                return self._told(one, trouble)
        self._in_vain += 1
        return None

    def _trouble(self, over: Callable[[], bool]) -> Death | int | None:
        """How it ended meanwhile, or the thread that computes."""
        thread = self.computing(over)
        return self._service.death() or thread

    def computing(self, over: Callable[[], bool] = lambda: False) -> int | None:
        """The id of a thread that computes for long, while nobody is under way; None: there is none, or it is
        `over()` before that is known."""
        pid: int | None = getattr(self._service, "pid", None)
        first = latest = {} if pid is None else threads(pid)
        wait, share = _FIRST_S, _FIRST_SHARE
        while pid is not None and latest and not over():
            at = self._clock()
            self._sleep(wait)
            now, busy = threads(pid), share * (self._clock() - at)
            latest = {
                one: now[one]
                for one, before in latest.items()
                if one in now and sum(now[one]) - sum(before) >= busy
            }
            for one, (had, _) in latest.items():
                if had - first[one][0] >= LONG_S:
                    return one
            wait, share = _LOOK_S, BUSY
        return None

    def _told(self, observation: Observation, trouble: Death | int) -> Observation:
        """With what is wrong behind it; the process is started anew."""
        frames: tuple[str, ...] = ()
        where: Callable[[int], tuple[str, ...]] | None = getattr(self._service, "where", None)
        if where is not None and isinstance(trouble, int):
            frames = where(trouble)
        with contextlib.suppress(CannotRun):  # the next that is sent says it
            self._send.restart()
        if isinstance(trouble, Death):
            return replace(observation, death=trouble)
        return replace(observation, facts=(*observation.facts, (COMPUTES, [LONG_S, *frames])))
