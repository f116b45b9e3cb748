"""What is noted on an exchange, or on a frame in a capture, beside its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from barnabas.specs.frames import DIRECTIONS, Direction

if TYPE_CHECKING:
    from barnabas.captures.kafka.exchange import Exchange

UNANSWERED: Final = "no response (acks=0)"
"""Of a request to which no response belongs."""

PASSED_OVER: Final = "no response"
"""Of a request without a header, where the next request was answered."""

NOT_CAPTURED: Final = "response not captured"
"""Of a request without a response, though one behind it was answered: bytes are missing."""

TOO_MANY: Final = "no response: too many requests in flight"
"""Of a request that is given up while its connection goes on, as where only one direction was captured."""

INFERRED: Final = "request not captured: API and version inferred from the response"
"""Of an exchange whose API and version are inferred from its response."""

ANSWERED_BY_PROXY: Final = "answered by the proxy"
"""Of a request that never left."""

WAITS: Final = "waits in the proxy"
"""Of a message that has not left yet."""

REPEATED: Final = "the answer to a message that the client did not send"
"""Of the response to a repeated or injected request: it never leaves. Readers go by these words."""

WITHHELD: Final = "response withheld: connection closed"
"""Of a response that came, but may not pass since addresses in it can't be replaced; nothing behind it went
anywhere. Readers go by these words."""

WITHHELD_UNNAMED: Final = "response not forwarded: connection closed"
"""The same in captures of earlier versions, which do not show such a response's correlation id."""

NOT_OFFERED: Final = "request not forwarded: its version is not offered"
"""Of a request that the proxy refuses as a broker would. Readers go by these words."""

CUT_OFF: Final = "a rule closed the connection"
"""How the note on a frame that was not forwarded ends, and its connection with it. Readers go by it."""


PARTIAL: Final = " cut off: "
"""What `partial` has in common. Readers go by it."""


def partial(direction: Direction, came: int, size: int, then: str) -> str:
    """Note how much came of a frame whose end did not, and what came instead.

    Args:
        direction: of the frame.
        came: bytes of it that came, with the 4 of its size.
        size: bytes of the whole frame, with those.
        then: what came instead of the rest.

    >>> partial("request", 300, 612, "the client closed (reset)")
    'request cut off: 300 of 612 bytes, then the client closed (reset)'
    """
    return f"{direction}{PARTIAL}{came:,} of {size:,} bytes, then {then}"


def how_closed(by: Direction | None, *, reset: bool) -> str:
    """Say how a connection ended; by: the direction whose sender ended it, None: not known.

    >>> how_closed("request", reset=True)
    'the client closed (reset)'
    """
    who = "connection" if by is None else "client" if by == "request" else "broker"
    return f"the {who} closed{' (reset)' if reset else ''}"


def ended_by(direction: Direction) -> dict[str, Any]:
    """Make the comment in a capture that says who ended a connection."""
    return {"ended_by": direction}


def partial_of(note: str) -> Direction | None:
    """Return which frame of an exchange came in part, as its note says; None: neither."""
    return next((way for way in DIRECTIONS if f"{way}{PARTIAL}" in note), None)


def undecodable(exchange: Exchange) -> dict[str, Any]:
    """What a capture is told of an exchange with a body that no schema reads."""
    return {
        "connection": exchange.connection,
        "api": exchange.api,
        "version": exchange.version,
        "correlation_id": exchange.correlation_id,
        "undecodable": exchange.undecodable,
    }
