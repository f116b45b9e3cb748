"""The hot path: steps over the frames of a chunk that pass unread, by their sizes.

Each function returns the offset up to which the chunk passes unchanged. The rest takes the careful path in
`barnabas.proxy.connection.connection`: a frame that must be collected, a header cut in two, anything unusual.
Responses that may end with node endpoints pass up to those. No bytes are copied; the only new objects are the
entries of pending requests and the finder of a tail.
"""

from __future__ import annotations

import struct

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.ingress import Ingress
from barnabas.proxy.connection.state import State
from barnabas.specs.malformed import Malformed
from barnabas.specs.node_endpoints import ResponseTail

_REQUEST = struct.Struct(">iIi").unpack_from
"""The size; key and version as one number, see `plan.code`; the correlation id."""
_RESPONSE = struct.Struct(">ii").unpack_from


_NO_SIZES = range(0), False


def walk_requests(state: State, data: memoryview, now: int) -> int:
    """Pass requests unread and enter those that expect a response among the pending ones."""
    ingress = state.ingress["request"]
    end = len(data)
    at = ingress.missing
    if at >= end:
        ingress.missing = at - end
        return end
    ingress.missing = 0
    find = state.known_prefixes.get
    waiting = state.pairing.waiting
    room = state.limits.waiting - len(waiting)
    while at + 12 <= end:
        size, code, correlation_id = _REQUEST(data, at)
        prefix = find(code)
        if prefix is None or room <= 0:
            return at
        key, version, head, prefix_end, sizes, answered = prefix
        if size not in sizes or (head and data[at + 12 : at + prefix_end] != head):
            return at
        if answered:
            waiting.append(Pending(correlation_id, key, version, state.client_id, size, now, now))
            room -= 1
        else:
            state.tally.note(key, None)
        ingress.frames += 1
        at += 4 + size
        if at >= end:
            ingress.missing = at - end
            return end
    return at


def walk_responses(state: State, data: memoryview, now: int) -> int:
    """Pass responses that arrive in the order of their requests."""
    ingress = state.ingress["response"]
    end = len(data)
    at = ingress.missing
    if ingress.tail is not None:
        tail_start = _find_tail(ingress, ingress.tail, data, min(at, end))
        if tail_start is not None:
            return tail_start
    if at >= end:
        ingress.missing = at - end
        return end
    ingress.missing = 0
    find = state.passing_sizes.get
    waiting = state.pairing.waiting
    key = arrived = count = 0  # requests of one chunk have waited equally long: counted at once
    while waiting and at + 8 <= end:
        size, correlation_id = _RESPONSE(data, at)
        pending = waiting[0]
        sizes, tailed = find(pending.key << 16 | pending.version, _NO_SIZES)
        if (
            size not in sizes
            or pending.correlation_id != correlation_id
            or (tailed and not _tail_passes(state, pending, data, at, size))
        ):
            break
        waiting.popleft()
        if pending.arrived != arrived or pending.key != key:
            if count:
                state.tally.note(key, now - arrived, count)
            key, arrived, count = pending.key, pending.arrived, 0
        count += 1
        at += 4 + size
        ingress.frames += 1
        if at >= end:
            ingress.missing = at - end
            at = end
            break
    if count:
        state.tally.note(key, now - arrived, count)
    return at


def pass_all(state: State, data: memoryview, now: int) -> int:
    """Pass the whole chunk of a connection that does not speak Kafka's protocol."""
    return len(data)


def _tail_passes(state: State, pending: Pending, data: memoryview, at: int, size: int) -> bool:
    """Return whether a response passes that may end with addresses.

    It does if its tail is empty, or is far off in a later chunk.
    """
    frame_end = at + 4 + size
    end = min(frame_end, len(data))
    if end < frame_end and size <= state.limits.whole:
        return False
    tail = ResponseTail(pending.key, pending.version, size, keep=state.plan.captured)
    try:
        tail_start = tail.find(data, at, end, frame_end - end)
    except Malformed:
        return False
    if tail_start is None:
        state.ingress["response"].tail = tail
        return True
    return tail.empty(data[tail_start])


def _find_tail(ingress: Ingress, tail: ResponseTail, data: memoryview, end: int) -> int | None:
    """Return the offset up to which the next bytes of such a response pass; None if all of them do."""
    try:
        tail_start = tail.find(data, 0, end, ingress.missing - end)
    except Malformed:
        return 0
    if tail_start is None:
        return None
    if tail.empty(data[tail_start]):
        ingress.tail = None
        return None
    ingress.keep_tail(tail_start)
    return tail_start
