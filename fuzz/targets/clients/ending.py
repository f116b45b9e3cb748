"""What a session may take once it was said to be over, before that is an alarm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.observations.told_to_wait import told_to_wait
from barnabas.fuzz.targets.clients.alarms import Kind, spinning, waiting
from barnabas.fuzz.targets.clients.limits import Limits


class Ending(NamedTuple):
    """Seconds: of time, and of the processor."""

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
