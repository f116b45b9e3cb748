"""Define the notes on exchanges, and on frames in a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from barnabas.specs.frames import DIRECTIONS, Direction

if TYPE_CHECKING:
    from barnabas.captures.kafka.exchange import Exchange

UNANSWERED: Final = "no response (acks=0)"
"""On a request that gets no response."""

PASSED_OVER: Final = "no response"
"""On a request without a header, after which the next request was answered."""

NOT_CAPTURED: Final = "response not captured"
"""On a request without a response where bytes of responses are missing."""

TOO_MANY: Final = "no response: too many requests in flight"
"""On a request that is dropped while its connection continues, as when only one direction was captured."""

INFERRED: Final = "request not captured: API and version inferred from the response"
"""On an exchange whose API and version are inferred from its response."""

ONE_DIRECTION: Final[dict[Direction, str]] = {
    "request": "only requests were captured: errors, latencies and all else in responses were not checked",
    "response": "only responses were captured: no check ran, since checks need the requests",
}
"""A sentence about a capture, by the only direction that it has."""

ANSWERED_BY_PROXY: Final = "answered by the proxy"
"""On a request that never left."""

WAITS: Final = "waits in the proxy"
"""On a message that has not left yet."""

REPEATED: Final = "the answer to a message that the client did not send"
"""On the response to a repeated or injected request, which never leaves. Readers compare this text."""

WITHHELD: Final = "response withheld: connection closed"
"""On a response that may not pass since addresses in it can't be replaced; nothing after it was forwarded.
Readers compare this text."""

WITHHELD_UNNAMED: Final = "response not forwarded: connection closed"
"""WITHHELD in captures of earlier versions, which do not show the response's correlation id."""

NOT_OFFERED: Final = "request not forwarded: its version is not offered"
"""On a request that the proxy refuses like a broker. Readers compare this text."""

CUT_OFF: Final = "a rule closed the connection"
"""The end of the note on a frame that was not forwarded and ended its connection. Readers compare this
text."""


CAPTURE_ENDS: Final = "the capture ends"
"""The end of the note on a request whose response may have followed."""


def is_failure(note: str) -> bool:
    """Return whether the note on a request without a response reports that something went wrong.

    >>> is_failure("no response: the client closed"), is_failure(UNANSWERED)
    (True, False)
    """
    return note not in ("", UNANSWERED, NOT_CAPTURED, WAITS) and not note.endswith(CAPTURE_ENDS)


PARTIAL: Final = " cut off: "
"""The common part of all notes of `partial`. Readers compare this text."""


def partial(direction: Direction, came: int, size: int, then: str) -> str:
    """Return the note on a frame that arrived in part.

    Args:
        direction: The direction of the frame.
        came: Bytes that arrived, including the 4 size bytes.
        size: Bytes of the whole frame, including the 4 size bytes.
        then: What happened instead of the rest.

    >>> partial("request", 300, 612, "the client closed (reset)")
    'request cut off: 300 of 612 bytes, then the client closed (reset)'
    """
    return f"{direction}{PARTIAL}{came:,} of {size:,} bytes, then {then}"


def how_closed(by: Direction | None, *, reset: bool) -> str:
    """Describe how a connection ended.

    Args:
        by: The direction whose sender ended it; None: unknown.
        reset: Whether it ended with an RST.

    >>> how_closed("request", reset=True)
    'the client closed (reset)'
    """
    side = "connection" if by is None else "client" if by == "request" else "broker"
    return f"the {side} closed{' (reset)' if reset else ''}"


GAP: Final[dict[str, Any]] = {"missing": True}
"""The comment in a capture on an empty packet after missing bytes, at the end of a connection's direction."""


def ended_by(direction: Direction) -> dict[str, Any]:
    """Return the comment in a capture that names the side that ended a connection."""
    return {"ended_by": direction}


def partial_of(note: str) -> Direction | None:
    """Return the direction of the frame that arrived in part, by an exchange's note; None: neither."""
    return next((direction for direction in DIRECTIONS if f"{direction}{PARTIAL}" in note), None)


def undecodable(exchange: Exchange) -> dict[str, Any]:
    """Return the comment in a capture on an exchange with an undecodable body."""
    return {
        "connection": exchange.connection,
        "api": exchange.api,
        "version": exchange.version,
        "correlation_id": exchange.correlation_id,
        "undecodable": exchange.undecodable,
    }


def only_direction(requests: int, responses: int, not_captured: int) -> Direction | None:
    """Return the only direction that a capture has; None: both directions, or no exchange.

    Args:
        requests: The number of captured requests.
        responses: The number of captured responses, including those without a request.
        not_captured: The number of requests with the note NOT_CAPTURED.

    >>> only_direction(3, 0, 2), only_direction(0, 3, 0), only_direction(3, 0, 0)
    ('request', 'response', None)
    """
    if responses and not requests:
        return "response"
    return "request" if not_captured and not responses else None
