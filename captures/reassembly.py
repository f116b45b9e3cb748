"""From TCP segments to the bytes of each direction in order, with their times and comments.

No I/O, bounded memory. Which conversation a segment belongs to is found here, their order in `flow.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from captures.demand import UNHEARD, Demands
from captures.flow import MODULUS, Data, Flow, Gap
from captures.tcp import ACK, SYN, Endpoint, Segment
from captures.usual import Usual
from specs.frames import Direction

PATIENCE: Final = 1 << 20
"""Bytes of a conversation that wait for a missing segment, unless told otherwise."""

FLOWS: Final = 1 << 16
"""Conversations that are followed at once; beyond them the oldest is given up."""

_ENDED: Final = 4096
"""Conversations whose end is remembered: what comes of them again opens none."""


class Opened(NamedTuple):
    """A conversation begins; without a handshake, the lower port is taken for the server's."""

    flow: int
    ts_ns: int
    client: Endpoint
    server: Endpoint
    comments: tuple[str, ...]
    handshake: bool = True
    """Whether its first bytes are those that come first."""
    demands: Demands = UNHEARD
    """Here its reader says what it waits for."""


class Closed(NamedTuple):
    """Both sides have finished, one has reset it, or it was given up."""

    flow: int
    ts_ns: int
    reset: bool


Event = Opened | Data | Gap | Closed


class Reassembler:
    """Follows all conversations. Each gets the next of `numbers`; they count from 1 unless told otherwise.

    With `patience` 0 a segment out of order is a Gap at once, and the two directions are as they
    stand: right for a file of ours, which repeats nothing and is in order.
    """

    def __init__(self, *, patience: int = PATIENCE, numbers: Iterator[int] | None = None) -> None:
        self._patience = patience
        self._numbers = itertools.count(1) if numbers is None else numbers
        self._flows: dict[tuple[Endpoint, Endpoint], Flow] = {}
        self._ended: dict[tuple[Endpoint, Endpoint], Flow] = {}
        self._usual: dict[bytes, tuple[Flow, Direction]] = {}
        """Whose direction it is, by `Usual.key`."""

    def plain(self, found: Usual, data: bytes, ts_ns: int, packet: int) -> Iterable[Event] | None:
        """What a packet of the usual form brings to a conversation that is in order, at once; None:
        `feed` its segment, and `learn` whose it is."""
        whose = self._usual.get(found.key)
        return None if whose is None else whose[0].plain(whose[1], found, data, ts_ns, packet)

    def learn(self, found: Usual, segment: Segment) -> None:
        """Whose packets of the usual form have this key: those of a segment that was fed."""
        flow = self._flows.get(_key(segment))
        if flow is not None and found.key not in self._usual:
            direction: Direction = "request" if segment.source == flow.client else "response"
            self._usual[found.key] = flow, direction
            flow.keys.append(found.key)

    def feed(
        self, segment: Segment, ts_ns: int, comments: tuple[str, ...] = (), packet: int = 0
    ) -> Iterator[Event]:
        """What a segment brings; `packet` is the number of its packet. Consume it all before the
        next call."""
        key = _key(segment)
        flow = self._flows.get(key)
        opening = segment.flags & SYN
        if opening and flow is not None and _renewed(flow, segment):
            yield from self._close(key, ts_ns, reset=False)
            flow = None
        if flow is None:
            if not (opening or segment.payload or comments) or self._again(key, segment):
                return
            if len(self._flows) >= FLOWS:
                yield from self._close(next(iter(self._flows)), ts_ns, reset=False)
            client, server = _roles(segment)
            flow = self._flows[key] = Flow(next(self._numbers), client, self._patience)
            remarks = comments if opening else ()
            demands = Demands(flow.request.demand, flow.response.demand)
            # a SYN may bring data (RFC 7413): without the client's own one, they may be missing
            whole = bool(opening) and segment.source == client
            yield Opened(flow.number, ts_ns, client, server, remarks, whole, demands)
        half, other = flow.request, flow.response
        if segment.source != flow.client:
            half, other = other, half
        yield from flow.take(half, other, segment, ts_ns, comments, packet)
        if flow.over:
            yield from self._close(key, ts_ns, reset=flow.reset)

    def resume(
        self,
        segment: Segment,
        seq: tuple[int, int],
        ts_ns: int,
        comments: tuple[str, ...],
        again: bool,
    ) -> Iterator[Event]:
        """A conversation goes on of which the beginning is not here: its client sends this, and `seq` are the
        next numbers of both sides. `again`: the one that is followed between these ports is another."""
        key = _key(segment)
        if again:
            yield from self._close(key, ts_ns, reset=False)
        flow = self._flows[key] = Flow(next(self._numbers), segment.source, self._patience)
        flow.request.first, flow.response.first = seq
        demands = Demands(flow.request.demand, flow.response.demand)
        yield Opened(flow.number, ts_ns, segment.source, segment.target, comments, False, demands)

    def followed(self, segment: Segment) -> int | None:
        """The number of the conversation that a segment belongs to; None: of none that is open."""
        flow = self._flows.get(_key(segment))
        return None if flow is None else flow.number

    def end(self) -> Iterator[Event]:
        """The capture is over: what still waits comes behind its Gaps. Nothing more is closed."""
        for flow in self._flows.values():
            yield from flow.end()
        self._flows.clear()
        self._usual.clear()

    def _close(self, key: tuple[Endpoint, Endpoint], ts_ns: int, *, reset: bool) -> Iterator[Event]:
        flow = self._flows.pop(key)
        for usual in flow.keys:
            del self._usual[usual]
        yield from flow.end()
        yield Closed(flow.number, ts_ns, reset)
        self._ended.pop(key, None)
        self._ended[key] = flow
        if len(self._ended) > _ENDED:
            del self._ended[next(iter(self._ended))]

    def _again(self, key: tuple[Endpoint, Endpoint], segment: Segment) -> bool:
        """Whether a segment repeats what a conversation had that is over."""
        flow = self._ended.get(key)
        if flow is None:
            return False
        half = flow.request if segment.source == flow.client else flow.response
        if segment.flags & SYN:
            return not _renewed(flow, segment)
        return half.ahead(segment.seq) + len(segment.payload) <= half.position


def _key(segment: Segment) -> tuple[Endpoint, Endpoint]:
    """Under which a conversation is found, the same for both directions."""
    source, target = segment.source, segment.target
    return (source, target) if source < target else (target, source)


def _renewed(flow: Flow, segment: Segment) -> bool:
    """Whether a SYN opens another conversation between the same ports, not the same one again."""
    half = flow.request if segment.source == flow.client else flow.response
    return half.first is not None and half.first != (segment.seq + 1) % MODULUS


def _roles(segment: Segment) -> tuple[Endpoint, Endpoint]:
    """(client, server) of a conversation's first segment that was captured."""
    ends = (segment.source, segment.target)
    if segment.flags & SYN:
        return ends[::-1] if segment.flags & ACK else ends
    return ends if segment.source[1] >= segment.target[1] else ends[::-1]
