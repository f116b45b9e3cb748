"""How long a client may take for a session, and what it may cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.observations.client_memory import LIMIT
from barnabas.fuzz.observations.told_to_wait import told_to_wait
from barnabas.fuzz.targets.clients.alarms import Kind, spinning, waiting


class Limits(NamedTuple):
    """Times in seconds, memory in bytes.

    patience_s: how long a client may sit on an answer before its connection is closed; also what it has
    left of a session when it is through with the case. hung_s: how long a session may take once it was said
    to be over, and twice as long if it never is; a client's own timeouts are far below. Time in which it
    stood ready and had no processor is not counted. spins_s: processor time that a session may take once it
    was said to be over. An alarm is half of hung_s, or spins_s; it is looked at again with the whole of
    hung_s, or three times as much processor time, half of hung_s at most. much_s: processor
    time far beyond what a session takes: with a case so much is suffering enough from it. starts_s: until its
    process is ready. memory: resident memory that one case may cost. side_by_side: sessions at once, without
    those that are over and do not end. Much of their time they wait, so there are more of them than cores.
    in_a_process: how many of them one process runs at once. last: the records of a Fetch that is a case are
    the last ones.
    """

    patience_s: float = 0.05
    hung_s: float = 4.0
    spins_s: float = 0.3
    much_s: float = 0.1
    starts_s: float = 30.0
    memory: int = LIMIT
    side_by_side: int = 16
    in_a_process: int = 1
    last: bool = False

    @property
    def alarming(self) -> Limits:
        """Those of sessions beside others: what they say is looked at again."""
        return self._replace(hung_s=self.hung_s / 2)

    @property
    def compared(self) -> Limits:
        """Those of one of two that get the same cases: it has more time to show what it makes of one."""
        return self._replace(last=True, patience_s=0.25)


_GO: Final = Limits(side_by_side=24)
"""They take little of a core and less memory than others: more of them wait at once."""

OF_LIBRARY: Final = {
    # a session takes 3 ms of a processor, and many an answer has it compute without end
    "confluent-kafka": Limits(spins_s=0.2),
    # its classes are loaded when they are first used: first sessions are slow
    "java": Limits(
        hung_s=8.0, spins_s=4.0, much_s=1.0, starts_s=60.0, side_by_side=12, in_a_process=36
    ),
    "franz-go": _GO,
    # each of its readers waits 100 ms until it asks for records (partitionConsumersBatchTimeout)
    "sarama": _GO._replace(side_by_side=48),
    "kafka-go": _GO,
}
"""Those that need others."""


class Ending(NamedTuple):
    """What a session may take once it was said to be over, before that is an alarm.

    Seconds of time, and of the processor.
    """

    hung_s: float
    spins_s: float


def at_all(limits: Limits) -> Ending:
    """Of a session of which only its time says that it hangs."""
    return Ending(limits.hung_s, math.inf)


def beside(case: Case, limits: Limits, knows: Callable[[Kind], bool]) -> Ending:
    """Of a session beside others: of a kind that somebody knows half as long, and as little of the processor
    as is much. So who was told to wait, of which nothing comes."""
    told, (hung_s, spins_s) = told_to_wait(case), (limits.alarming.hung_s, limits.spins_s)
    return Ending(
        hung_s / 2 if told or knows(waiting(case)) else hung_s,
        limits.much_s if told or knows(spinning(case)) else spins_s,
    )


def again(limits: Limits) -> Ending:
    """Of one that is looked at again."""
    return Ending(limits.hung_s, min(3 * limits.spins_s, limits.hung_s / 2))
