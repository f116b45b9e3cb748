"""Build pending requests from captured frames, and find the body of their responses."""

from __future__ import annotations

import bisect
from typing import Any, Final

from barnabas.captures.kafka.exchange import ALTERED
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, facts_of, head_of
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.specs.frames import RequestHead, Short, request_head, response_body
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

_FAR: Final = 512
"""Bytes after a request's header that its head may include at most."""


def known_version(key: int, version: int) -> bool:
    """Return whether this is a known version of a Kafka API."""
    if key not in NAMES:
        return False
    first, last = api(key).versions
    return first <= version <= last


def pending_request(
    frame: CapturedFrame, head: tuple[int, int, int, str | None], **fields: Any
) -> Pending:
    """Build a pending request from its frame.

    Args:
        frame: The frame of the request.
        head: Correlation id, key, version and client id.
        fields: Further fields of `Pending`.
    """
    pending = Pending(*head, len(frame.data), frame.ts, frame.ts, packet=frame.packet, **fields)
    pending.ordinal, pending.request_place = frame.ordinal, frame.place
    return pending


def captured_request(frame: CapturedFrame, head: RequestHead) -> Pending:
    """Build a pending request from its frame, header and comments."""
    facts = facts_of(frame)
    return pending_request(
        frame,
        (head.correlation_id, head.key, head.version, head.client_id),
        body=frame.data[head.body :],
        rules=tuple(facts.get("rules", ())),
        sasl=facts.get("sasl", ""),
        payload=facts.get("payload", {}),
    )


def reach_of_head(frame: bytes, head: RequestHead) -> int | None:
    """Return how many bytes of a request its head covers; None: too many."""
    # after the header, the head includes the acks of Produce: find its end without their layout
    ends = range(head.body, min(head.body + _FAR, len(frame)))
    reach = head.body + bisect.bisect_left(ends, True, key=lambda end: _suffices(frame, end))
    return reach if _suffices(frame, reach) else None


def _suffices(frame: bytes, end: int) -> bool:
    """Return whether a request's head can be read from this many bytes."""
    try:
        request_head(frame, 0, end)
    except Short:
        return False
    return True


def partial_request(frame: CapturedFrame, user: str | None) -> Pending | None:
    """Build a pending request from a frame without its end; None: its API or version is unknown."""
    head = head_of(frame.data)
    if head is None or not known_version(head.key, head.version):
        return None
    pending = captured_request(frame, head)
    pending.body, pending.user = None, user
    return pending


def opaque_request(frame: CapturedFrame, key: int) -> Pending:
    """Build a pending request without a readable header; `key` is its stand-in from `HEADLESS`."""
    sasl = facts_of(frame).get("sasl", "")
    return pending_request(frame, (0, key, 0, None), opaque=True, sasl=sasl)


def body_of_response(data: bytes, pending: Pending) -> int:
    """Return the offset of the body in the response to a request."""
    if pending.opaque:
        return 0
    if not known_version(pending.key, pending.version):
        return 4
    try:
        return response_body(data, pending.key, pending.version)
    except Malformed:
        return 4


def altered(body: bytes | None, other: bytes) -> bytes | None:
    """Return the other form of a body; None: the same, or too large to store twice.

    >>> altered(b"a", b"b"), altered(b"a", b"a")
    (b'b', None)
    """
    return None if body == other or len(other) > ALTERED else other


def number_of(frame: CapturedFrame) -> int:
    """Return the number that a frame of the linked flow had on arrival; -1 for the proxy's own frame."""
    number = facts_of(frame).get("frame", -1)
    return number if isinstance(number, int) else -1
