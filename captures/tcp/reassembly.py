"""From TCP segments to the bytes of each direction in order, with their times and comments.

No I/O, bounded memory. Which conversation a TCP segment belongs to is found here, their order in `flow.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.captures.files.pcapng import Run
from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.bytes_needed import NEVER_SAID, Needs
from barnabas.captures.tcp.fast_headers import FastTcpSegment
from barnabas.captures.tcp.fast_reassembly import Lane, reassemble_run
from barnabas.captures.tcp.flow import Flow
from barnabas.captures.tcp.half import MODULUS, Data, Gap
from barnabas.captures.tcp.headers import ACK, SYN, Captured, TcpSegment
from barnabas.captures.tcp.initial_sequence import InitialSequence
from barnabas.specs.frames import Direction

PATIENCE: Final = 1 << 20
"""Bytes of a conversation that wait for a missing TCP segment, unless told otherwise."""

FLOWS: Final = 1 << 16
"""Conversations that are followed at once; beyond them the oldest is given up."""

HELD_IN_ALL: Final = 64 << 20
"""Bytes of all conversations whose beginning is held back; above it the oldest is let go."""

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
    needs: Needs = NEVER_SAID
    """Here its reader says what it waits for."""


class Closed(NamedTuple):
    """Both sides have finished, one has reset it, or it was given up."""

    flow: int
    ts_ns: int
    reset: bool
    by: Direction | None = None
    """The direction whose sender ended it first; None: neither did."""


Event = Opened | Data | Gap | Closed


class Reassembler:
    """Follows all conversations. Each gets the next of `numbers`; they count from 1 unless told otherwise.

    With `patience` 0 a TCP segment out of order is a Gap at once, and the two directions are as they
    stand: right for a file of ours, which repeats nothing and is in order.
    """

    def __init__(self, *, patience: int = PATIENCE, numbers: Iterator[int] | None = None) -> None:
        self._patience = patience
        self._numbers = numbers
        self._count = 0
        self._flows: dict[tuple[Endpoint, Endpoint], Flow] = {}
        self._ended: dict[tuple[Endpoint, Endpoint], Flow] = {}
        self._lanes: dict[bytes, Lane] = {}
        """Whose direction it is, by `FastTcpSegment.key`."""
        self._beginnings: dict[tuple[Endpoint, Endpoint], InitialSequence] = {}
        self._held = 0
        """Bytes of those."""

    def run(self, run: Run, number: int) -> Iterator[Data | int]:
        """What the packets of a run bring, the first of which has this number; the place of each that
        is unusual: `feed` its TCP segment before going on, and `learn` whose it is. See `fast_reassembly`."""
        return reassemble_run(self._lanes, run, number)

    def lane_of(self, key: bytes) -> Lane | None:
        """Of which direction of a conversation packets of the usual form with this key are known to be."""
        return self._lanes.get(key)

    def learn(self, found: FastTcpSegment, tcp: TcpSegment) -> None:
        """Whose packets of the usual form have this key: those of a TCP segment that was fed."""
        flow = self._flows.get(_key(tcp))
        if flow is not None and found.key not in self._lanes:
            self._lanes[found.key] = flow, *flow.halves(tcp.source)
            flow.keys.append(found.key)

    def feed(
        self, tcp: TcpSegment, ts_ns: int, comments: tuple[str, ...] = (), packet: int = 0
    ) -> Iterator[Event]:
        """What a TCP segment brings; `packet` is the number of its packet. Consume it all before the
        next call."""
        held = Captured(tcp, ts_ns, comments, packet)
        key = _key(tcp)
        beginning = self._beginnings.get(key)
        if beginning is None:
            if not self._patience or key in self._flows or self._void(key, held):
                yield from self._take(key, held)
                return
            beginning = self._beginnings[key] = InitialSequence(self._next_number())
        elif not beginning.waits_for(held):
            yield from self._begin(key)
            yield from self._take(key, held)
            return
        beginning.add(held)
        self._held += len(tcp.payload)
        if beginning.decided(self._patience):
            yield from self._begin(key)
        while self._held > HELD_IN_ALL or len(self._beginnings) > FLOWS:
            yield from self._begin(next(iter(self._beginnings)))

    def _next_number(self) -> int:
        if self._numbers is not None:
            return next(self._numbers)
        self._count += 1
        return self._count

    def _begin(self, key: tuple[Endpoint, Endpoint]) -> Iterator[Event]:
        """Where a conversation begins is decided: go on with what was held back."""
        beginning = self._beginnings.pop(key)
        self._held -= beginning.size
        for number, held in enumerate(beginning.in_order()):
            yield from self._take(key, held, beginning if number == 0 else None)

    def _void(self, key: tuple[Endpoint, Endpoint], held: Captured) -> bool:
        """Whether a TCP segment of no conversation that is open says nothing."""
        tcp = held.tcp
        told = tcp.flags & SYN or tcp.payload or held.comments
        return not told or self._again(key, tcp)

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
            flow = self._flows[key] = Flow(number, client, self._patience)
            if beginning is not None:
                flow.request.first = beginning.first(client)
                flow.response.first = beginning.first(server)
            remarks = comments if opening else ()
            needs = flow.needs
            # a SYN may bring data (RFC 7413): without the client's own one, they may be missing
            whole = bool(opening) and tcp.source == client
            yield Opened(flow.number, ts_ns, client, server, remarks, whole, needs)
        yield from flow.take(held)
        if flow.over:
            yield from self._close(key, ts_ns, reset=flow.reset)

    def resume(self, captured: Captured, seq: tuple[int, int], again: bool) -> Iterator[Event]:
        """A conversation goes on of which the beginning is not here: its client sends this, and `seq` are the
        next numbers of both sides. `again`: the one that is followed between these ports is another."""
        tcp, ts_ns, comments, _ = captured
        key = _key(tcp)
        if again:
            yield from self._close(key, ts_ns, reset=False)
        flow = self._flows[key] = Flow(self._next_number(), tcp.source, self._patience)
        flow.request.first, flow.response.first = seq
        needs = flow.needs
        yield Opened(flow.number, ts_ns, tcp.source, tcp.target, comments, False, needs)

    def followed(self, tcp: TcpSegment) -> int | None:
        """The number of the conversation that a TCP segment belongs to; None: of none that is open."""
        flow = self._flows.get(_key(tcp))
        return None if flow is None else flow.number

    def end(self) -> Iterator[Event]:
        """The capture is over: what still waits comes behind its Gaps. Nothing more is closed."""
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
        """Whether a TCP segment repeats what a conversation had that is over."""
        flow = self._ended.get(key)
        if flow is None:
            return False
        if tcp.flags & SYN:
            return not _renewed(flow, tcp)
        half, _ = flow.halves(tcp.source)
        return half.ahead(tcp.seq) + len(tcp.payload) <= half.position


def _key(tcp: TcpSegment) -> tuple[Endpoint, Endpoint]:
    """Under which a conversation is found, the same for both directions."""
    source, target = tcp.source, tcp.target
    return (source, target) if source < target else (target, source)


def _renewed(flow: Flow, tcp: TcpSegment) -> bool:
    """Whether a SYN opens another conversation between the same ports, not the same one again."""
    half, _ = flow.halves(tcp.source)
    return half.first is not None and half.first != (tcp.seq + 1) % MODULUS


def _roles(tcp: TcpSegment) -> tuple[Endpoint, Endpoint]:
    """(client, server) of a conversation's first TCP segment that was captured."""
    ends = (tcp.source, tcp.target)
    if tcp.flags & SYN:
        return ends[::-1] if tcp.flags & ACK else ends
    return ends if tcp.source[1] >= tcp.target[1] else ends[::-1]
