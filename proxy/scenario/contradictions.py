"""Faults of one rule of which one does nothing beside the other.

This is about the faults of one rule, which are all done to the same message. Different rules meet as it
happens, and what an earlier one does may well come to nothing by a later one.
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
"""What happens to a connection or a network, whatever becomes of the message."""


def clashes(faults: Sequence[tuple[str, BaseModel]], direction: Direction | None) -> Iterator[str]:
    """A line for each two faults of a rule of which one does nothing beside the other, and what to do.

    faults: names and settings, in the order written; direction: of the messages, None for both. Of a
    fault that is not in `barnabas.proxy.faults` nothing is known but that it is not done behind an end.

    >>> list(clashes([("hold", Hold(messages=1)), ("close", Close(forward=True))], None))
    []
    >>> list(clashes([("close", Close(forward=True)), ("hold", Hold(messages=1))], None))
    ['hold does nothing after close, which ends the message: put hold first']
    """
    for (one, first), (other, second) in combinations(faults, 2):
        if _ends(first, direction):
            better = "leave one out" if _idle(second, first, direction) else f"put {other} first"
            yield f"{other} does nothing after {one}, which ends the message: {better}"
        elif why := _idle(first, second, direction):
            yield f"{one} does nothing beside {other}: {why}; leave one out"
        elif why := _idle(second, first, direction):
            yield f"{other} does nothing beside {one}: {why}; leave one out"


def _ends(config: BaseModel, direction: Direction | None) -> bool:
    """Whether no other fault has a say behind it, see `barnabas.proxy.effects.FINAL`."""
    answers = isinstance(config, Respond) and direction != "response"
    return answers or isinstance(config, Close | Truncate) or _loses(config, direction)


def _loses(config: BaseModel, direction: Direction | None) -> bool:
    """Whether the message is not forwarded, and nobody answers it."""
    if isinstance(config, LoseReply):
        return direction == "response"
    hangs_up = isinstance(config, Close) and not config.forward
    return hangs_up or isinstance(config, Drop | Reset | Blackhole)


def _idle(config: BaseModel, beside: BaseModel, direction: Direction | None) -> str:
    """Why a fault does nothing beside another one, in whatever order; "" if it does."""
    if _loses(beside, direction):
        about_it = isinstance(config, _KNOWN) and not isinstance(config, _APART)
        return "the message is not forwarded" if about_it else ""
    match config, beside:
        case Slice() | Duplicate() | LoseReply(), Respond() if direction != "response":
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
