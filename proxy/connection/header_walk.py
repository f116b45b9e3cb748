"""The hot path: skips the frames of a chunk that pass unread, by their sizes; of responses that may end with
node endpoints, up to those.

Each function returns up to which offset of the chunk everything passes as it is. The rest (a frame that
somebody wants whole, a header cut in two, anything odd) takes the careful path in
`barnabas.proxy.connection.connection`. No bytes are copied; the objects that are made are the entry of a
request that waits, and what finds a tail.
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
    """Pass requests; each that expects a response is entered among those that wait."""
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
        size, kind, correlation_id = _REQUEST(data, at)
        known = find(kind)
        if known is None or room <= 0:
            return at
        key, version, head, behind, sizes, answered = known
        if size not in sizes or (head and data[at + 12 : at + behind] != head):
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
    """Pass responses that come in the order of their requests."""
    ingress = state.ingress["response"]
    end = len(data)
    at = ingress.missing
    if ingress.tail is not None:
        found = _find_tail(ingress, ingress.tail, data, min(at, end))
        if found is not None:
            return found
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
    """Pass all of a chunk of a connection that does not speak Kafka's protocol."""
    return len(data)


def _tail_passes(state: State, pending: Pending, data: memoryview, at: int, size: int) -> bool:
    """Whether a response passes that may end with addresses: if its tail is here and empty, or far off."""
    behind = at + 4 + size
    end = min(behind, len(data))
    if end < behind and size <= state.limits.whole:
        return False
    tail = ResponseTail(pending.key, pending.version, size, keep=state.plan.captured)
    try:
        found = tail.find(data, at, end, behind - end)
    except Malformed:
        return False
    if found is None:
        state.ingress["response"].tail = tail
        return True
    return tail.empty(data[found])


def _find_tail(ingress: Ingress, tail: ResponseTail, data: memoryview, end: int) -> int | None:
    """Up to where the next bytes of such a response pass; None: all of them."""
    try:
        found = tail.find(data, 0, end, ingress.missing - end)
    except Malformed:
        return 0
    if found is None:
        return None
    if tail.empty(data[found]):
        ingress.tail = None
        return None
    ingress.keep_tail(found)
    return found
