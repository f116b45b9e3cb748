"""The blocks of a range: packets many at a time, as arrays of what stands where, and all others one by one.

What can't be read is a `Fault`, and reading goes on behind it.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterator
from typing import Final, NamedTuple

import numpy as np

from barnabas.captures.files import pcapng
from barnabas.captures.files.block_body import read_block
from barnabas.captures.files.pcapng import (
    BLOCK_LIMIT,
    ENHANCED,
    CaptureError,
    Interface,
    Other,
    Packet,
    Secrets,
    Section,
    Statistics,
)
from barnabas.pipeline.reading.block_resync import resync
from barnabas.pipeline.reading.enhanced_packets import enhanced_packets
from barnabas.pipeline.reading.faults import Fault, unread
from barnabas.pipeline.reading.file_bytes import FileBytes
from barnabas.pipeline.reading.packet_arrays import Ints, PacketArrays, words
from barnabas.pipeline.reading.ranges import Range, State

MOST: Final = 8192
"""Packets of `PacketArrays` at most."""
_NS: Final = 10**9


class End(NamedTuple):
    """Behind the last of all: where the next block begins, and what holds there."""

    offset: int
    state: State


class Begin(NamedTuple):
    """Before the first of all: where that begins; None if no block begins in the range."""

    offset: int | None


Found = Begin | PacketArrays | Section | Interface | Statistics | Secrets | Other | Fault | End
"""A section or an interface is given as it comes; which hold in the end is in `End`."""


def blocks(of: Range) -> Iterator[Found]:
    """What a range holds. Raises OSError."""
    source = FileBytes(of.path, of.kind)
    try:
        yield from _Reading(source, of).all()
    finally:
        source.close()


class _Cut(Exception):
    """A block goes on behind the data."""


class _Reading:
    """The reading of one range."""

    def __init__(self, source: FileBytes, of: Range) -> None:
        self.source = source
        self.stop = of.stop
        self.at = of.start
        self.state = of.state
        self.exact = of.exact
        self.interfaces = list(of.state.interfaces)

    @property
    def offset(self) -> int:
        return self.source.base + self.at

    def all(self) -> Iterator[Found]:
        source = self.source
        if not self.exact:
            first = resync(source.data, self.at, self.stop, self.state)
            yield Begin(first)
            if first is None:
                yield End(self.at, self.state)
                return
            self.at = first
        else:
            yield Begin(self.at if self.at < self.stop else None)
        if source.base + len(source.data) == 0:
            yield from self._refill()
            yield from self._head()
        while self.offset < self.stop:
            try:
                more = yield from self._step()
            except _Cut:
                if source.whole:
                    yield from self._fault("truncated", self.offset, "the file ends within a block")
                else:
                    yield from self._refill()
                continue
            except CaptureError as problem:
                yield from self._fault("corrupt", problem.offset, problem.reason)
                continue
            if not more:
                break
        yield End(self.offset, self._state())

    def _state(self) -> State:
        return self.state._replace(interfaces=tuple(self.interfaces))

    def _head(self) -> Iterator[Found]:
        """What a packed file is, once its first bytes are there."""
        from barnabas.captures.files import pcap

        head = bytes(self.source.data[: pcap.HEADER])
        if head[:4] in pcap.MAGICS:
            if len(head) < pcap.HEADER:
                yield Fault(0, len(head), "truncated", "the file ends within its header")
                self.at = len(head)
                return
            self.state, self.at = State(layout=pcap.read_header(head)), pcap.HEADER
            yield Section((), "", 0)

    def _refill(self) -> Iterator[Found]:
        try:
            self.at = self.source.refill(self.at)
        except CaptureError as problem:
            yield Fault(problem.offset, 0, "corrupt", problem.reason)
            self.source.give_up()

    def _fault(self, kind: str, offset: int, reason: str) -> Iterator[Found]:
        """Say so, and go on where the next block seems to begin."""
        source, begun = self.source, self.offset
        reason = f"byte {offset}: {reason}" if offset != begun else reason
        at = self.at + 1
        while True:
            place = resync(source.data, at, len(source.data), self._state(), whole=source.whole)
            if place is not None or source.whole:
                break
            self.at = max(self.at + 1, len(source.data) - 64)
            yield from self._refill()
            at = 0
        self.at = len(source.data) if place is None else place
        if kind == "truncated" and place is not None:
            kind = "corrupt"
        yield Fault(begun, self.offset - begun, kind, reason)

    def _step(self) -> Generator[Found, None, bool]:
        """The next packets, or the next block. Returns whether there was any."""
        if self.state.layout is not None:
            return (yield from self._records())
        return (yield from self._blocks())

    # pcapng

    def _blocks(self) -> Generator[Found, None, bool]:
        data, stop = self.source.data, min(len(self.source.data), self.stop - self.source.base)
        offsets: list[int] = []
        at, enough = self.at, len(data)
        head = pcapng.LAYOUTS[self.state.order].head.unpack_from
        while at < stop and len(offsets) < MOST:
            if enough - at < pcapng.AROUND:
                break
            kind, length = head(data, at)
            if (
                kind != ENHANCED
                or length < pcapng.ENHANCED_LEAST
                or length & 3
                or length > BLOCK_LIMIT
            ):
                break
            if at + length > enough:
                break
            offsets.append(at)
            at += length
        if offsets:
            yield from self._enhanced(np.array(offsets, np.int64))
            return True
        return (yield from self._other())

    def _enhanced(self, offsets: Ints) -> Iterator[Found]:
        """Enhanced packet blocks whose lengths are possible."""
        source = self.source
        read = enhanced_packets(
            source.data, source.array, source.base, offsets, self.state.order, self.interfaces
        )
        self.at = read.end
        yield from read.faults
        if read.packets is not None:
            yield read.packets

    def _other(self) -> Generator[Found, None, bool]:
        """One block of any kind."""
        data, at = self.source.data, self.at
        if len(data) - at < pcapng.AROUND:
            if len(data) == at and self.source.whole:
                return False
            raise _Cut
        where = self.offset
        if data[at : at + 4] == pcapng.MAGIC:  # its order holds, even if the rest of it is damaged
            self.state = State(pcapng.section_order(data, at, where))
        order, kind, length = pcapng.block_head(data, at, self.state.order, where)
        if at + length > len(data):
            raise _Cut
        pcapng.check_end(data, at, order, length, where)
        self.at += length
        try:
            found = read_block(bytes(data[at : at + length]), order, where, self.interfaces)
        except CaptureError as problem:
            if kind == pcapng.SECTION:
                self.interfaces.clear()
            yield unread(where, length, problem)
            return True
        if isinstance(found, Section):
            self.interfaces.clear()
        elif isinstance(found, Interface):
            self.interfaces.append(found)
        if isinstance(found, Packet):
            yield self._single(found, at, kind)
        else:
            assert not isinstance(found, pcapng.Truncated)  # noqa: S101
            yield found
        return True

    def _single(self, packet: Packet, at: int, kind: int) -> PacketArrays:
        """A packet in a block of another kind, or in an enhanced one that is odd."""
        header = pcapng.AROUND if kind == pcapng.SIMPLE else pcapng.BEFORE
        block, start, size, time, linktype = (
            np.array([number], np.int64)
            for number in (at, at + header, len(packet.data), packet.ts_ns, packet.linktype)
        )
        comments = {0: packet.comments} if packet.comments else {}
        source = self.source
        return PacketArrays(source.data, source.base, block, start, size, time, linktype, comments)

    # pcap

    def _records(self) -> Generator[Found, None, bool]:
        layout = self.state.layout
        assert layout is not None  # noqa: S101
        data, stop = self.source.data, min(len(self.source.data), self.stop - self.source.base)
        offsets: list[int] = []
        at, enough, size = self.at, len(data), layout.size
        lengths, append = struct.Struct(f"{layout.order}8xI").unpack_from, offsets.append
        last = min(stop, enough - size + 1)
        for _ in range(MOST):
            if at >= last:
                break
            end = at + size + (length := lengths(data, at)[0])
            if end > enough or length > BLOCK_LIMIT:
                break
            append(at)
            at = end
        if not offsets:
            if at >= enough and self.source.whole:
                return False
            if enough - at >= size and (length := lengths(data, at)[0]) > BLOCK_LIMIT:
                raise CaptureError(self.offset + 8, f"a packet of {length} bytes")
            raise _Cut
        places = np.array(offsets, np.int64)
        heads = words(self.source.array, places, 3, layout.order)
        times = heads[:, 0] * _NS + heads[:, 1] * layout.tick
        linktypes = np.full(len(places), layout.linktype, np.int64)
        self.at = at
        source = self.source
        yield PacketArrays(
            source.data, source.base, places, places + size, heads[:, 2], times, linktypes, {}
        )
        return True
