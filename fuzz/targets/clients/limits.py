"""How long a client may take for a session, what it may cost, and the clock that measures it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.observations.client_outcome import LIMIT, is_throttled
from barnabas.fuzz.targets.clients.alarms import AlarmKind, spinning, waiting


class Limits(NamedTuple):
    """The limits of a client's sessions. Times are in seconds, memory in bytes.

    Attributes:
        patience_s: How long a client may hold a response before its connection is closed; also the rest of a
            session after the client is done with the case.
        hung_s: How long a session may take after it was told to end, and twice as long if it never is. A
            client's own timeouts are far below. Time in which the client was ready without a processor does
            not count. An alarm is raised after half of it, and confirmed with the whole.
        spins_s: Processor time that a session may use after it was told to end. An alarm is confirmed with
            three times as much, half of hung_s at most.
        much_s: Processor time far beyond a session's need: a client that used it had enough time with the
            case.
        starts_s: How long a process may take until it is ready.
        memory: Memory that one case may cost.
        claims: Whether address space that a case claims is memory, too, even if it is never touched.
        side_by_side: Concurrent sessions, without those that were told to end and do not. Sessions mostly
            wait, so there are more of them than cores.
        in_a_process: Concurrent sessions of one process.
        last: Whether the records of a Fetch that is a case are the last ones.
    """

    patience_s: float = 0.05
    hung_s: float = 4.0
    spins_s: float = 0.3
    much_s: float = 0.1
    starts_s: float = 30.0
    memory: int = LIMIT
    claims: bool = True
    side_by_side: int = 16
    in_a_process: int = 1
    last: bool = False

    @property
    def alarming(self) -> Limits:
        """Return the limits of concurrent sessions, whose alarms are confirmed later."""
        return self._replace(hung_s=self.hung_s / 2)

    @property
    def compared(self) -> Limits:
        """Return the limits of a client that is compared: it has more time to react to a case."""
        return self._replace(last=True, patience_s=0.25)


_GO: Final = Limits(side_by_side=24)
"""Go clients use little processor time and memory, so more of them wait at once."""

OF_LIBRARY: Final = {
    # a session uses 3 ms of processor time; many responses make it compute without end
    "confluent-kafka": Limits(spins_s=0.2),
    # classes are loaded at their first use, so first sessions are slow; the first one starts the JVM, which
    # reserves its whole heap, and touches what it allocates
    "java": Limits(
        hung_s=8.0,
        spins_s=4.0,
        much_s=1.0,
        starts_s=60.0,
        claims=False,
        side_by_side=12,
        in_a_process=36,
    ),
    "franz-go": _GO,
    # each reader waits 100 ms before it fetches records (partitionConsumersBatchTimeout)
    "sarama": _GO._replace(side_by_side=48),
    "kafka-go": _GO,
}
"""Limits of libraries that differ from the default."""


class EndLimits(NamedTuple):
    """The limits of a session after it was told to end; what exceeds them is an alarm.

    Attributes:
        hung_s: Seconds.
        spins_s: Seconds of processor time.
    """

    hung_s: float
    spins_s: float


def at_all(limits: Limits) -> EndLimits:
    """Return the end limits of a session for which only time counts."""
    return EndLimits(limits.hung_s, math.inf)


def beside(case: Case, limits: Limits, knows: Callable[[AlarmKind], bool]) -> EndLimits:
    """Return the end limits of a concurrent session.

    For a known kind of alarm, and for a throttled client, they are half the time and much_s of processor
    time.
    """
    throttled, (hung_s, spins_s) = is_throttled(case), (limits.alarming.hung_s, limits.spins_s)
    return EndLimits(
        hung_s / 2 if throttled or knows(waiting(case)) else hung_s,
        limits.much_s if throttled or knows(spinning(case)) else spins_s,
    )


def again(limits: Limits) -> EndLimits:
    """Return the end limits of a session that confirms an alarm."""
    return EndLimits(limits.hung_s, min(3 * limits.spins_s, limits.hung_s / 2))


LOOK: Final = 0.1
"""Seconds between two looks at a running session."""
_MORE: Final = 4
"""Factor by which a session's time may grow because it had no processor."""


class Allowance:
    """A time allowance from now on, extended by time without a processor. Moments are of time.monotonic.

    delayed: returns the seconds that the client was ready without a processor, ever.
    """

    def __init__(self, seconds: float, now: float, delayed: Callable[[], float]) -> None:
        self._seconds, self._delayed = seconds, delayed
        self._deadline, self._latest = now + seconds, now + _MORE * seconds
        self.look = self._rest = now + seconds / 4
        """The moment of the next look; in the first quarter nobody needs the delay before."""
        self._before: float | None = None

    def shorten(self, seconds: float) -> None:
        """Change the allowance to fewer seconds."""
        less, self._seconds = self._seconds - seconds, seconds
        self._deadline, self._latest = self._deadline - less, self._latest - _MORE * less

    def used_up(self, now: float, *, busy: bool) -> bool:
        """Return whether the allowance is used up.

        busy: the client had a processor, and gets no more time.
        """
        self.look = min(now + LOOK, max(self._deadline, now))
        if now < self._deadline and (self._before is not None or now < self._rest):
            return False
        before, self._before = self._before, self._delayed()
        if now < self._deadline:
            return False
        without = 0.0 if before is None else self._before - before
        if busy or without < LOOK or now >= self._latest:
            return True
        self._deadline = min(now + without, self._latest)
        return False
