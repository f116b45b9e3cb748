"""The hot path: over the frames of a chunk that pass unread, by arithmetic on their sizes.

Each function returns how far into the chunk everything may pass as it is; what stands behind that
(a frame that somebody wants whole, a head cut in two, anything odd) is left to the careful path in
`proxy.connection`. Nothing is copied, no object is made but the entry of a request that waits.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from captures.exchange import Pending
from specs.frames import PRODUCE, flexible_since

if TYPE_CHECKING:
    from proxy.state import State

_REQUEST = struct.Struct(">ihhih").unpack_from
_RESPONSE = struct.Struct(">ii").unpack_from
_INT16 = struct.Struct(">h").unpack_from

PRODUCE_FLEXIBLE = flexible_since(PRODUCE)


def skim_requests(state: State, data: memoryview, now: int) -> int:
    """Pass requests; each that expects a response is entered among those that wait."""
    inbound = state.inbound["request"]
    end = len(data)
    at = inbound.passing
    if at >= end:
        inbound.passing = at - end
        return end
    inbound.passing = 0
    quiet = state.plan.quiet["request"]
    waiting = state.pairing.waiting
    room = state.limits.waiting - len(waiting)
    while at + 14 <= end:
        size, key, version, correlation_id, length = _REQUEST(data, at)
        if size < 10 or key << 16 | version & 0xFFFF not in quiet or room <= 0:
            return at
        if size > state.limits.frame:
            return at
        if key == PRODUCE:
            acks = skim_acks(data, at + 14 + max(length, 0), end, version)
            if acks is None:
                return at
        if key != PRODUCE or acks:
            waiting.append(Pending(correlation_id, key, version, state.client_id, size, now, now))
            room -= 1
        else:
            state.tally.note(key, None)
        inbound.frames += 1
        at += 4 + size
        if at >= end:
            inbound.passing = at - end
            return end
    return at


def skim_acks(data: memoryview, at: int, end: int, version: int) -> int | None:
    """A Produce request's acks if they can be found at once; None if the careful path must look."""
    if version >= PRODUCE_FLEXIBLE:
        # no tags in the header, and a transactional id whose length is one byte
        if at + 2 > end or data[at] or data[at + 1] > 127:
            return None
        at += 2 + max(data[at + 1] - 1, 0)
    elif version >= 3:
        if at + 2 > end:
            return None
        at += 2 + max(_INT16(data, at)[0], 0)
    if at + 2 > end:
        return None
    acks: int = _INT16(data, at)[0]
    return acks


def skim_responses(state: State, data: memoryview, now: int) -> int:
    """Pass responses that come in the order of their requests."""
    inbound = state.inbound["response"]
    end = len(data)
    at = inbound.passing
    if at >= end:
        inbound.passing = at - end
        return end
    inbound.passing = 0
    quiet = state.plan.quiet["response"]
    waiting = state.pairing.waiting
    note = state.tally.note
    while at + 8 <= end:
        size, correlation_id = _RESPONSE(data, at)
        if size < 4 or size > state.limits.frame or not waiting:
            return at
        pending = waiting[0]
        if (
            pending.correlation_id != correlation_id
            or pending.key << 16 | pending.version & 0xFFFF not in quiet
        ):
            return at
        waiting.popleft()
        note(pending.key, now - pending.arrived)
        inbound.frames += 1
        at += 4 + size
        if at >= end:
            inbound.passing = at - end
            return end
    return at
