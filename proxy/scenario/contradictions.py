"""Finds faults of one rule of which one does nothing because of the other.

All faults of one rule are applied to the same message. Different rules meet by chance, so an earlier rule's
fault may well come to nothing because of a later rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from pydantic import BaseModel

from barnabas.proxy.faults import FAULTS
from barnabas.proxy.faults.blackhole import Blackhole
from barnabas.proxy.faults.breakpoint import Breakpoint
from barnabas.proxy.faults.close import Close
from barnabas.proxy.faults.coalesce import Coalesce
from barnabas.proxy.faults.drop import Drop
from barnabas.proxy.faults.duplicate import Duplicate
from barnabas.proxy.faults.half_close import HalfClose
from barnabas.proxy.faults.hold import Hold
from barnabas.proxy.faults.inject import Inject
from barnabas.proxy.faults.isolate import Isolate
from barnabas.proxy.faults.lose_reply import LoseReply
from barnabas.proxy.faults.reorder import Reorder
from barnabas.proxy.faults.reset import Reset
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.faults.slice import Slice
from barnabas.proxy.faults.stall import Stall
from barnabas.proxy.faults.truncate import Truncate
from barnabas.specs.frames import Direction

_KNOWN: Final = tuple(model for _, model, *_ in FAULTS)

_APART: Final = (Stall, Isolate)
"""Faults on a connection or a network, whatever happens to the message."""


def clashes(faults: Sequence[tuple[str, BaseModel]], direction: Direction | None) -> Iterator[str]:
    """Yield a line with a remedy for each pair of faults of which one does nothing.

    A fault that is not in `barnabas.proxy.faults` is only known not to run after the end of a message.

    Args:
        faults: The names and settings, in the order written.
        direction: The direction of the messages; None for both.

    >>> list(clashes([("hold", Hold(messages=1)), ("close", Close(forward=True))], None))
    []
    >>> list(clashes([("close", Close(forward=True)), ("hold", Hold(messages=1))], None))
    ['hold does nothing after close, which ends the message: put hold first']
    """
    for (name, first), (other_name, second) in combinations(faults, 2):
        if _ends(first, direction):
            remedy = (
                "leave one out" if _idle(second, first, direction) else f"put {other_name} first"
            )
            yield f"{other_name} does nothing after {name}, which ends the message: {remedy}"
        elif reason := _idle(first, second, direction):
            yield f"{name} does nothing beside {other_name}: {reason}; leave one out"
        elif reason := _idle(second, first, direction):
            yield f"{other_name} does nothing beside {name}: {reason}; leave one out"


def _ends(config: BaseModel, direction: Direction | None) -> bool:
    """Return whether no later fault applies to the message, see `barnabas.proxy.effects.FINAL`."""
    answers = isinstance(config, Respond) and not config.forwards and direction != "response"
    return answers or isinstance(config, Close | Truncate) or _loses(config, direction)


def _loses(config: BaseModel, direction: Direction | None) -> bool:
    """Return whether the message is neither forwarded nor answered."""
    if isinstance(config, LoseReply):
        return direction == "response"
    hangs_up = isinstance(config, Close) and not config.forward
    return hangs_up or isinstance(config, Drop | Reset | Blackhole)


def _idle(config: BaseModel, beside: BaseModel, direction: Direction | None) -> str:
    """Return why a fault does nothing next to another one, in any order; "" if it does something."""
    if _loses(beside, direction):
        about_it = isinstance(config, _KNOWN) and not isinstance(config, _APART)
        return "the message is not forwarded" if about_it else ""
    match config, beside:
        case (
            Slice() | Duplicate() | LoseReply(),
            Respond(forwards=False),
        ) if direction != "response":
            return "a request that the proxy answers is not forwarded"
        case Inject() | LoseReply() | HalfClose() | Duplicate(), Truncate():
            return "nothing is sent after a truncated message"
        case Inject() | LoseReply() | HalfClose(), Close():
            return "nothing is sent after it"
        case Inject(direction=way), HalfClose() if way in (None, direction):
            return "nothing is sent after it in that direction"
        case (
            Hold() | Breakpoint() | Reorder() | Coalesce(),
            Hold() | Breakpoint() | Reorder() | Coalesce(),
        ):
            return "a message can wait in one way only"
        case Slice(), Slice():
            return "only the last one counts"
    return ""
