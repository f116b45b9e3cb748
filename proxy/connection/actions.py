"""The actions that a connection asks of its relay. The relay carries them out in order, `Finish` last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.writing.masked_flow import Hidden
from barnabas.specs.frames import Direction


class Forward(NamedTuple):
    """Forward the chunk that was just received, unchanged."""


class Send(NamedTuple):
    """Send bytes: requests to the broker, responses to the client."""

    direction: Direction
    data: bytes | memoryview


class Finish(NamedTuple):
    """Half-close the receiver's side once everything is sent: no more bytes will leave in this direction."""

    direction: Direction


class Abort(NamedTuple):
    """Close both sides now."""

    reason: str
    reset: bool = False
    """Whether to close with RST instead of FIN."""


class Cut(NamedTuple):
    """A comment for the capture on the chunk just received, at the end of a frame.

    `offset` counts bytes of that chunk.
    """

    direction: Direction
    offset: int
    comment: dict[str, Any]


class Hide(NamedTuple):
    """The position of a whole frame in the chunk that the capture must mask."""

    direction: Direction
    frame: Hidden


class Departure(NamedTuple):
    """For the capture: a frame that left otherwise than it arrived (changed, late, or made here).

    `key` and `version` may be the stand-ins of `barnabas.captures.writing.masking`.
    """

    direction: Direction
    data: bytes
    comment: dict[str, Any]
    key: int
    version: int


class Done(NamedTuple):
    """A finished exchange, with or without its response."""

    exchange: Exchange


class Say(NamedTuple):
    """A line for the person who runs the proxy."""

    text: str


Action = Forward | Send | Finish | Abort | Cut | Hide | Departure | Done | Say
Actions = Sequence[Action]

PASS: Final[Actions] = (Forward(),)
"""The common answer, one object: the chunk passes unread."""

NOTHING: Final[Actions] = ()
