"""The blocks of a range: packets as arrays, many at a time, and all other blocks one by one.

An unreadable block yields a `Fault`, and reading continues after it.
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
from barnabas.pipeline.reading.file_bytes import FileBytes
from barnabas.pipeline.reading.packet_arrays import Ints, PacketArrays, enhanced_packets, words
from barnabas.pipeline.reading.ranges import Fault, Range, State, unread

MOST: Final = 8192
"""The most packets in one `PacketArrays`."""
_NS: Final = 10**9


class End(NamedTuple):
    """The end of a range: the offset of the next block, and the state there."""

    offset: int
    state: State


class Begin(NamedTuple):
    """The offset of the first block; None if no block begins in the range."""

    offset: int | None


RangeItem = Begin | PacketArrays | Section | Interface | Statistics | Secrets | Other | Fault | End
"""Sections and interfaces are yielded in file order; `End` has those that hold at the end."""


def blocks(file_range: Range) -> Iterator[RangeItem]:
    """Yield the contents of a range. Raises OSError."""
    source = FileBytes(file_range.path, file_range.kind)
    try:
        yield from _Reading(source, file_range).all()
    finally:
        source.close()


class _Cut(Exception):
    """A block extends past the end of the data."""


class _Reading:
    """The state of reading one range."""

    def __init__(self, source: FileBytes, file_range: Range) -> None:
        self.source = source
        self.stop = file_range.stop
        self.at = file_range.start
        self.state = file_range.state
        self.exact = file_range.exact
        self.interfaces = list(file_range.state.interfaces)

    @property
    def offset(self) -> int:
        return self.source.base + self.at

    def all(self) -> Iterator[RangeItem]:
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

    def _head(self) -> Iterator[RangeItem]:
        """Determine the format of a packed file from its first bytes."""
        from barnabas.captures.files import pcap

        head = bytes(self.source.data[: pcap.HEADER])
        if head[:4] in pcap.MAGICS:
            if len(head) < pcap.HEADER:
                yield Fault(0, len(head), "truncated", "the file ends within its header")
                self.at = len(head)
                return
            self.state, self.at = State(layout=pcap.read_header(head)), pcap.HEADER
            yield Section((), "", 0)

    def _refill(self) -> Iterator[RangeItem]:
        try:
            self.at = self.source.refill(self.at)
        except CaptureError as problem:
            yield Fault(problem.offset, 0, "corrupt", problem.reason)
            self.source.give_up()

    def _fault(self, kind: str, offset: int, reason: str) -> Iterator[RangeItem]:
        """Yield a fault, and continue at the next offset at which a block seems to begin."""
        source, fault_offset = self.source, self.offset
        reason = f"byte {offset}: {reason}" if offset != fault_offset else reason
        at = self.at + 1
        while True:
            next_offset = resync(
                source.data, at, len(source.data), self._state(), whole=source.whole
            )
            if next_offset is not None or source.whole:
                break
            self.at = max(self.at + 1, len(source.data) - 64)
            yield from self._refill()
            at = 0
        self.at = len(source.data) if next_offset is None else next_offset
        if kind == "truncated" and next_offset is not None:
            kind = "corrupt"
        yield Fault(fault_offset, self.offset - fault_offset, kind, reason)

    def _step(self) -> Generator[RangeItem, None, bool]:
        """Yield the next packets or the next block; return whether there was one."""
        if self.state.layout is not None:
            return (yield from self._records())
        return (yield from self._blocks())

    # pcapng

    def _blocks(self) -> Generator[RangeItem, None, bool]:
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

    def _enhanced(self, offsets: Ints) -> Iterator[RangeItem]:
        """Yield enhanced packet blocks whose lengths are plausible."""
        source = self.source
        read = enhanced_packets(
            source.data, source.array, source.base, offsets, self.state.order, self.interfaces
        )
        self.at = read.end
        yield from read.faults
        if read.packets is not None:
            yield read.packets

    def _other(self) -> Generator[RangeItem, None, bool]:
        """Yield a block of any type."""
        data, at = self.source.data, self.at
        if len(data) - at < pcapng.AROUND:
            if len(data) == at and self.source.whole:
                return False
            raise _Cut
        block_offset = self.offset
        if data[at : at + 4] == pcapng.MAGIC:  # its order holds, even if the rest of it is damaged
            self.state = State(pcapng.section_order(data, at, block_offset))
        order, kind, length = pcapng.block_head(data, at, self.state.order, block_offset)
        if at + length > len(data):
            raise _Cut
        pcapng.check_end(data, at, order, length, block_offset)
        self.at += length
        try:
            block = read_block(bytes(data[at : at + length]), order, block_offset, self.interfaces)
        except CaptureError as problem:
            if kind == pcapng.SECTION:
                self.interfaces.clear()
            yield unread(block_offset, length, problem)
            return True
        if isinstance(block, Section):
            self.interfaces.clear()
        elif isinstance(block, Interface):
            self.interfaces.append(block)
        if isinstance(block, Packet):
            yield self._single(block, at, kind)
        else:
            assert not isinstance(block, pcapng.Truncated)  # noqa: S101
            yield block
        return True

    def _single(self, packet: Packet, at: int, kind: int) -> PacketArrays:
        """Return a packet from a block of another type, or from an irregular enhanced packet block."""
        header = pcapng.AROUND if kind == pcapng.SIMPLE else pcapng.BEFORE
        block, start, size, time, linktype = (
            np.array([number], np.int64)
            for number in (at, at + header, len(packet.data), packet.ts_ns, packet.linktype)
        )
        comments = {0: packet.comments} if packet.comments else {}
        source = self.source
        return PacketArrays(source.data, source.base, block, start, size, time, linktype, comments)

    # pcap

    def _records(self) -> Generator[RangeItem, None, bool]:
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
        record_offsets = np.array(offsets, np.int64)
        heads = words(self.source.array, record_offsets, 3, layout.order)
        times = heads[:, 0] * _NS + heads[:, 1] * layout.tick
        linktypes = np.full(len(record_offsets), layout.linktype, np.int64)
        self.at = at
        source = self.source
        yield PacketArrays(
            source.data,
            source.base,
            record_offsets,
            record_offsets + size,
            heads[:, 2],
            times,
            linktypes,
            {},
        )
        return True
