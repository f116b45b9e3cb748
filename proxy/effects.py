"""What a fault may ask for. The connection (`proxy.connection`) knows how to do each of these.

A fault is a frozen configuration and one pure function that returns one of these; it never touches a
socket, a clock or a queue. Times are in ns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from proxy.matching import Match

Same = Literal["connection", "client", "group", "any"]
"""Whose other message counts: on the same connection, of the same client id, of the same group."""


class Wait(NamedTuple):
    """The message leaves this long after it arrived, never early; what is behind it waits too."""

    ns: int


class Aside(NamedTuple):
    """The message steps aside and what is behind it passes, until one of these comes about."""

    at_most: int
    """It leaves after this time at the latest."""
    until: Match | None = None
    """It leaves right behind the next message that matches."""
    same: Same = "connection"
    """Where that message must pass."""
    passing: int | None = None
    """It leaves behind this many messages of its own direction on its connection."""
    restore: bool = True
    """Responses to requests that left in another order are put back into the client's order."""


class Shuffle(NamedTuple):
    """Messages are gathered until the window is full (or the time is up) and leave in this order.

    The one that opens the window fixes its order: a permutation of range(size of the window).
    """

    order: tuple[int, ...]
    at_most: int
    restore: bool = True


class Lose(NamedTuple):
    """The message never leaves. As TCP can't lose one message out of a stream, nothing behind it in
    its direction leaves either, until somebody closes; `selective` takes out just this exchange."""

    selective: bool = False


class HangUp(NamedTuple):
    """Both sides of the connection are closed; `forward`: once this message has left."""

    forward: bool = False


Effect = Wait | Aside | Shuffle | Lose | HangUp
