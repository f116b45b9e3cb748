"""The hot path: skips the frames of a chunk that pass unread, by their sizes.

Each function returns up to which offset of the chunk everything passes as it is. The rest (a frame that
somebody wants whole, a header cut in two, anything odd) takes the careful path in
`barnabas.proxy.connection.connection`. No bytes are copied; the one object that is made is the entry of a
request that waits.
"""

from __future__ import annotations

import struct

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.state import State

_REQUEST = struct.Struct(">iIi").unpack_from
"""The size; key and version as one number, see `plan.code`; the correlation id."""
_RESPONSE = struct.Struct(">ii").unpack_from


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
    if at >= end:
        ingress.missing = at - end
        return end
    ingress.missing = 0
    find = state.passing_sizes.get
    waiting = state.pairing.waiting
    key = arrived = count = 0  # requests of one chunk have waited equally long: counted at once
    while at + 8 <= end:
        size, correlation_id = _RESPONSE(data, at)
        if not waiting:
            break
        pending = waiting[0]
        sizes = find(pending.key << 16 | pending.version)
        if sizes is None or size not in sizes or pending.correlation_id != correlation_id:
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
