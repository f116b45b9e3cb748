"""A captured request as it waits for its response, and where the body of that begins."""

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
"""Bytes behind a request's header that belong to its head at most."""


def known_version(key: int, version: int) -> bool:
    """Whether it is an API of Kafka, in a version that is known."""
    if key not in NAMES:
        return False
    first, last = api(key).versions
    return first <= version <= last


def pending_request(
    frame: CapturedFrame, head: tuple[int, int, int, str | None], **known: Any
) -> Pending:
    """A request as its frame came. head: correlation id, key, version, client id; known: of `Pending`."""
    pending = Pending(*head, len(frame.data), frame.ts, frame.ts, packet=frame.packet, **known)
    pending.ordinal, pending.request_place = frame.ordinal, frame.place
    return pending


def captured_request(frame: CapturedFrame, head: RequestHead) -> Pending:
    """A request with its header, and what the capture says of it."""
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
    """Return of how many bytes of a request its head was read; None: too many."""
    # behind the header stand the acks of Produce: how much was read shows without their layout
    ends = range(head.body, min(head.body + _FAR, len(frame)))
    reach = head.body + bisect.bisect_left(ends, True, key=lambda end: _suffices(frame, end))
    return reach if _suffices(frame, reach) else None


def _suffices(frame: bytes, end: int) -> bool:
    """Whether the head of a request can be read of so many bytes."""
    try:
        request_head(frame, 0, end)
    except Short:
        return False
    return True


def partial_request(frame: CapturedFrame, user: str | None) -> Pending | None:
    """Make a request of which the end is missing; None: it can't be told which request it is."""
    head = head_of(frame.data)
    if head is None or not known_version(head.key, head.version):
        return None
    pending = captured_request(frame, head)
    pending.body, pending.user = None, user
    return pending


def opaque_request(frame: CapturedFrame, key: int) -> Pending:
    """A request without a header that can be read; key: that of `HEADLESS` which stands for it."""
    sasl = facts_of(frame).get("sasl", "")
    return pending_request(frame, (0, key, 0, None), opaque=True, sasl=sasl)


def body_of_response(data: bytes, pending: Pending) -> int:
    """Where the body begins in the response to a request."""
    if pending.opaque:
        return 0
    if not known_version(pending.key, pending.version):
        return 4
    try:
        return response_body(data, pending.key, pending.version)
    except Malformed:
        return 4


def altered(body: bytes | None, other: bytes) -> bytes | None:
    """The other form of a body; None: it is the same, or too large to be kept twice.

    >>> altered(b"a", b"b"), altered(b"a", b"a")
    (b'b', None)
    """
    return None if body == other or len(other) > ALTERED else other


def number_of(frame: CapturedFrame) -> int:
    """The number that a frame of the linked flow had where it arrived; -1 for one of our own."""
    number = facts_of(frame).get("frame", -1)
    return number if isinstance(number, int) else -1
