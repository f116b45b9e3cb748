"""What can be done to a message. One file a fault: a frozen configuration and one pure function.

A fault of one's own needs no fork: a tuple like this one goes to `proxy.scenario.load`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel

from proxy.dice import Roll
from proxy.effects import Effect
from proxy.faults.close import Close, close
from proxy.faults.delay import Delay, delay
from proxy.faults.drop import Drop, drop
from proxy.faults.hold import Hold, hold
from proxy.faults.reorder import Reorder, reorder

Act = Callable[[Any, Roll], Effect]
"""What a fault does: (configuration, chance) -> effect."""

Fault = tuple[str, type[BaseModel], Act]
"""A name, its settings, what it does."""

FAULTS: Final[tuple[Fault, ...]] = (
    ("delay", Delay, delay),
    ("hold", Hold, hold),
    ("reorder", Reorder, reorder),
    ("drop", Drop, drop),
    ("close", Close, close),
)

KEEP_ORDER: Final = (Delay, Drop, Close)
"""Those that never let a message overtake another; of any other fault it must be expected."""
