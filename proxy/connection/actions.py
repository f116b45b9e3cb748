"""What a connection asks of the relay: carried out in order, Finish last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.writing.masked_flow import Hidden
from barnabas.specs.frames import Direction


class Forward(NamedTuple):
    """Send the chunk that was just received on, as it is."""


class Send(NamedTuple):
    """Send bytes on: requests to the broker, responses to the client."""

    direction: Direction
    data: bytes | memoryview


class Finish(NamedTuple):
    """Nothing more will come in this direction: half-close once everything is sent."""

    direction: Direction


class Abort(NamedTuple):
    """Close both sides now."""

    reason: str
    reset: bool = False
    """With an RST."""


class Cut(NamedTuple):
    """For the capture: a comment on the chunk just received, at the end of a frame.

    `offset` is a number of bytes of that chunk.
    """

    direction: Direction
    offset: int
    comment: dict[str, Any]


class Hide(NamedTuple):
    """For the capture: where a whole frame stood that must be masked."""

    direction: Direction
    frame: Hidden


class Left(NamedTuple):
    """For the capture: a frame that left otherwise than it arrived (changed, late, or made here).

    `key` and `version` say what they are, see `barnabas.captures.writing.masking`.
    """

    direction: Direction
    data: bytes
    comment: dict[str, Any]
    key: int
    version: int


class Done(NamedTuple):
    """An exchange is over, with or without its response."""

    exchange: Exchange


class Say(NamedTuple):
    """A line for the person who runs the proxy."""

    text: str


Action = Forward | Send | Finish | Abort | Cut | Hide | Left | Done | Say
Actions = Sequence[Action]

PASS: Final[Actions] = (Forward(),)
"""The usual answer, one object: a chunk of frames that nothing has to be done about."""

NOTHING: Final[Actions] = ()
