"""Reassemble TCP segments into the bytes of each direction, in order, with times and comments.

No I/O, bounded memory. This module finds the conversation of each segment; `flow.py` orders the segments in
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.captures.files.pcapng import Run
from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.bytes_needed import NO_NEEDS, Needs
from barnabas.captures.tcp.fast_headers import FastTcpSegment
from barnabas.captures.tcp.fast_reassembly import Lane, reassemble_run
from barnabas.captures.tcp.flow import Flow
from barnabas.captures.tcp.half import MODULUS, Data, Gap
from barnabas.captures.tcp.headers import ACK, SYN, Captured, TcpSegment
from barnabas.captures.tcp.initial_sequence import InitialSequence
from barnabas.specs.frames import Direction

WAIT_LIMIT: Final = 1 << 20
"""Default for the bytes of a conversation that wait for a missing TCP segment."""

FLOWS: Final = 1 << 16
"""Conversations that are tracked at once; beyond that the oldest is closed."""

HELD_IN_ALL: Final = 64 << 20
"""Bytes of all conversations whose beginning is held back; beyond that the oldest is released."""

_ENDED: Final = 4096
"""Closed conversations that are remembered, so that a late retransmission does not open another one."""


class Opened(NamedTuple):
    """The beginning of a conversation; without a handshake, the lower port is taken for the server's."""

    flow: int
    ts_ns: int
    client: Endpoint
    server: Endpoint
    comments: tuple[str, ...]
    handshake: bool = True
    """Whether the first bytes of the conversation were captured."""
    needs: Needs = NO_NEEDS
    """The reader may set the bytes that it needs here."""
    roles_known: bool = True
    """Whether a SYN, of either end, was captured."""


class Closed(NamedTuple):
    """The end of a conversation: both sides sent FIN, one sent RST, or it was dropped."""

    flow: int
    ts_ns: int
    reset: bool
    by: Direction | None = None
    """The direction that sent the first FIN or RST; None: neither did."""


Event = Opened | Data | Gap | Closed


class Reassembler:
    """A tracker of all TCP conversations in a capture; it numbers them by `numbers`, by default from 1.

    With `wait_limit` 0, a TCP segment out of order is a Gap at once, and both directions stay in file order.
    That suits captures of barnabas, which are in order and have no retransmissions.
    """

    def __init__(
        self, *, wait_limit: int = WAIT_LIMIT, numbers: Iterator[int] | None = None
    ) -> None:
        self._wait_limit = wait_limit
        self._numbers = numbers
        self._count = 0
        self._flows: dict[tuple[Endpoint, Endpoint], Flow] = {}
        self._ended: dict[tuple[Endpoint, Endpoint], Flow] = {}
        self._lanes: dict[bytes, Lane | None] = {}
        """Known directions by `FastTcpSegment.key`; None: one that is left out."""
        self._beginnings: dict[tuple[Endpoint, Endpoint], InitialSequence] = {}
        self._held = 0
        """Payload bytes of all beginnings."""

    def run(self, run: Run, number: int) -> Iterator[Data | int]:
        """Yield the data of a run of packets, and the index of each packet that needs the careful path.

        For each index, `feed` the TCP segment and `learn` its key before asking for the next item. See
        `fast_reassembly`.
        """
        return reassemble_run(self._lanes, run, number)

    def learn(self, segment: FastTcpSegment, tcp: TcpSegment) -> None:
        """Remember the direction of plain packets with the key of a segment that was fed."""
        flow = self._flows.get(key_of(tcp))
        if flow is not None and not self._lanes.get(segment.key):
            self._lanes[segment.key] = flow, *flow.halves(tcp.source)
            flow.keys.append(segment.key)

    def leave_out(
        self, tcp: TcpSegment, ts_ns: int, segment: FastTcpSegment | None
    ) -> Iterator[Event]:
        """Skip a conversation from this segment on; a followed one between these ports ends here."""
        key = key_of(tcp)
        if key in self._beginnings:
            yield from self._begin(key)
        if key in self._flows:
            yield from self._close(key, ts_ns, reset=False)
        if segment is not None:
            self._lanes[segment.key] = None

    def feed(
        self, tcp: TcpSegment, ts_ns: int, comments: tuple[str, ...] = (), packet: int = 0
    ) -> Iterator[Event]:
        """Yield the events of a TCP segment. Consume them all before the next call.

        Args:
            tcp: The segment.
            ts_ns: Its capture time.
            comments: The comments on its packet.
            packet: The number of its packet.
        """
        held = Captured(tcp, ts_ns, comments, packet)
        key = key_of(tcp)
        beginning = self._beginnings.get(key)
        if beginning is None:
            if not self._wait_limit or key in self._flows or self._void(key, held):
                yield from self._take(key, held)
                return
            beginning = self._beginnings[key] = InitialSequence(self._next_number())
        elif not beginning.waits_for(held):
            yield from self._begin(key)
            yield from self._take(key, held)
            return
        beginning.add(held)
        self._held += len(tcp.payload)
        if beginning.decided(self._wait_limit):
            yield from self._begin(key)
        while self._held > HELD_IN_ALL or len(self._beginnings) > FLOWS:
            yield from self._begin(next(iter(self._beginnings)))

    def _next_number(self) -> int:
        if self._numbers is not None:
            return next(self._numbers)
        self._count += 1
        return self._count

    def _begin(self, key: tuple[Endpoint, Endpoint]) -> Iterator[Event]:
        """Release the held segments of a conversation: its initial sequence numbers are decided."""
        beginning = self._beginnings.pop(key)
        self._held -= beginning.size
        for number, held in enumerate(beginning.in_order()):
            yield from self._take(key, held, beginning if number == 0 else None)

    def _void(self, key: tuple[Endpoint, Endpoint], held: Captured) -> bool:
        """Return whether a TCP segment without an open conversation carries no information."""
        tcp = held.tcp
        informative = tcp.flags & SYN or tcp.payload or held.comments
        return not informative or self._again(key, tcp)

    def _take(
        self,
        key: tuple[Endpoint, Endpoint],
        held: Captured,
        beginning: InitialSequence | None = None,
    ) -> Iterator[Event]:
        tcp, ts_ns, comments, _ = held
        flow = self._flows.get(key)
        opening = tcp.flags & SYN
        if opening and flow is not None and _renewed(flow, tcp):
            yield from self._close(key, ts_ns, reset=False)
            flow = None
        if flow is None:
            if self._void(key, held):
                return
            if len(self._flows) >= FLOWS:
                yield from self._close(next(iter(self._flows)), ts_ns, reset=False)
            number = self._next_number() if beginning is None else beginning.number
            client, server = _roles(tcp)
            flow = self._flows[key] = Flow(number, client, self._wait_limit)
            if beginning is not None:
                flow.request.first = beginning.first(client)
                flow.response.first = beginning.first(server)
            remarks = comments if opening else ()
            needs = flow.needs
            # a SYN may carry data (RFC 7413), so without the client's SYN data may be missing
            whole = bool(opening) and tcp.source == client
            yield Opened(flow.number, ts_ns, client, server, remarks, whole, needs, bool(opening))
        yield from flow.take(held)
        if flow.over:
            yield from self._close(key, ts_ns, reset=flow.reset)

    def resume(self, captured: Captured, seq: tuple[int, int], again: bool) -> Iterator[Event]:
        """Open a conversation that began in an unavailable segment of the capture.

        Args:
            captured: The packet of the client that introduces it.
            seq: The next sequence numbers of client and server.
            again: Whether another conversation between these ports is open, which ends here.
        """
        tcp, ts_ns, comments, _ = captured
        key = key_of(tcp)
        if again:
            yield from self._close(key, ts_ns, reset=False)
        flow = self._flows[key] = Flow(self._next_number(), tcp.source, self._wait_limit)
        flow.request.first, flow.response.first = seq
        needs = flow.needs
        yield Opened(flow.number, ts_ns, tcp.source, tcp.target, comments, False, needs)

    def followed(self, tcp: TcpSegment) -> int | None:
        """Return the number of the open conversation of a TCP segment; None without one."""
        flow = self._flows.get(key_of(tcp))
        return None if flow is None else flow.number

    def end(self) -> Iterator[Event]:
        """Yield everything that still waits, with its Gaps, at the end of the capture.

        No conversation is closed.
        """
        numbers = {key: flow.number for key, flow in self._flows.items()}
        numbers |= {key: beginning.number for key, beginning in self._beginnings.items()}
        for key in sorted(numbers, key=numbers.__getitem__):
            if key in self._beginnings:
                yield from self._begin(key)
            if key in self._flows:
                yield from self._flows[key].end()
        self._flows.clear()
        self._lanes.clear()

    def _close(self, key: tuple[Endpoint, Endpoint], ts_ns: int, *, reset: bool) -> Iterator[Event]:
        flow = self._flows.pop(key)
        for lane in flow.keys:
            del self._lanes[lane]
        yield from flow.end()
        yield Closed(flow.number, ts_ns, reset, flow.ended_by)
        self._ended.pop(key, None)
        self._ended[key] = flow
        if len(self._ended) > _ENDED:
            del self._ended[next(iter(self._ended))]

    def _again(self, key: tuple[Endpoint, Endpoint], tcp: TcpSegment) -> bool:
        """Return whether a TCP segment repeats a part of a closed conversation."""
        flow = self._ended.get(key)
        if flow is None:
            return False
        if tcp.flags & SYN:
            return not _renewed(flow, tcp)
        half, _ = flow.halves(tcp.source)
        return half.ahead(tcp.seq) + len(tcp.payload) <= half.position


def key_of(tcp: TcpSegment) -> tuple[Endpoint, Endpoint]:
    """Return the key of a conversation, which is the same for both directions."""
    source, target = tcp.source, tcp.target
    return (source, target) if source < target else (target, source)


def _renewed(flow: Flow, tcp: TcpSegment) -> bool:
    """Return whether a SYN opens another conversation between the same ports, and is no retransmission."""
    half, _ = flow.halves(tcp.source)
    return half.first is not None and half.first != (tcp.seq + 1) % MODULUS


def _roles(tcp: TcpSegment) -> tuple[Endpoint, Endpoint]:
    """Return client and server, by the first captured TCP segment of a conversation."""
    ends = (tcp.source, tcp.target)
    if tcp.flags & SYN:
        return ends[::-1] if tcp.flags & ACK else ends
    return ends if tcp.source[1] >= tcp.target[1] else ends[::-1]
