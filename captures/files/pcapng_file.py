"""Read pcapng files of any origin, with any number of sections and interfaces."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Final

from barnabas.captures.files.block_body import read_block
from barnabas.captures.files.block_resync import CHAIN, skip_to_block
from barnabas.captures.files.pcapng import (
    AROUND,
    BEFORE,
    BLOCK_LIMIT,
    ENHANCED,
    ENHANCED_LEAST,
    LAYOUTS,
    MAGIC,
    ORDERS,
    RUN,
    SECTION,
    Block,
    CaptureError,
    Damage,
    Interface,
    Layout,
    Packet,
    Run,
    Truncated,
    block_head,
    check_end,
    section_order,
)
from barnabas.captures.files.read_buffer import ReadBuffer

MAJOR: Final = {">": b"\0\1", "<": b"\1\0"}
"""The major version of pcapng, by byte order."""


def read_runs(file: io.BufferedIOBase, *, recover: bool = False) -> Iterator[Block | Run]:
    """Return the blocks of a file from its beginning, each valid until the next is requested.

    Packets without options are in runs. With `recover`, damage yields `Damage`, and reading continues after
    it; without, it raises CaptureError. Raises CaptureError for other files, and every error of `file`.
    """
    return _PcapngFile(file, recover).runs()


class _PcapngFile:
    """A file that is being read, with the state of its current section."""

    def __init__(self, file: io.BufferedIOBase, recover: bool) -> None:
        self._size = _size(file)
        self._window = _opened(file)
        self._recover = recover
        self._order = "<"
        self._interfaces: list[Interface] = []

    @property
    def _offset(self) -> int:
        return self._window.before + self._window.at

    def runs(self) -> Iterator[Block | Run]:
        window = self._window
        while window.has(AROUND):
            run = _run(window, LAYOUTS[self._order], self._interfaces)
            if run is not None:
                yield run
                continue
            offset = self._offset
            try:
                block = self._block()
            except CaptureError as problem:
                if not self._recover:
                    raise
                if self._offset == offset:  # its length is wrong
                    skip_to_block(window, self._order)
                block = Damage(offset, self._offset - offset, problem.offset, problem.reason)
            if block is not None:
                yield block
            if isinstance(block, Truncated):
                return
        if window.at < len(window.data):
            self._check_start()
            yield Truncated(self._offset)

    def _block(self) -> Block | Run | None:
        """Return the next block; None: it was not in the buffer, and may be a plain packet."""
        window, offset = self._window, self._offset
        data, at = window.data, window.at
        if bytes(data[at : at + 4]) == MAGIC:  # its byte order holds, even if the rest is damaged
            self._order = section_order(data, at, offset)
        _, kind, length = block_head(data, at, self._order, offset)
        if (self._size is not None and length > self._size - offset) or not window.has(length):
            return self._cut(offset)
        if window.data is not data:
            return None
        check_end(data, at, self._order, length, offset)
        window.at += length
        if kind == SECTION:
            self._interfaces.clear()
        block = read_block(bytes(data[at : at + length]), self._order, offset, self._interfaces)
        if isinstance(block, Interface):
            self._interfaces.append(block)
        if isinstance(block, Packet) and kind == ENHANCED and not block.comments:
            bounds = block.ts_ns, at + BEFORE, at + BEFORE + len(block.data)
            return Run(block.linktype, data, [bounds], window.before, BEFORE)
        return block

    def _cut(self, offset: int) -> Truncated | Damage:
        """Return the end of the file within a block, or damage if valid blocks follow."""
        self._check_start()
        if self._recover:
            skip_to_block(self._window, self._order, least=CHAIN)
            # a file that is being written may have grown meanwhile
            grown = self._size is not None and self._offset >= self._size
            if self._window.at < len(self._window.data) and not grown:
                reason = "the block would not end within the file"
                return Damage(offset, self._offset - offset, offset + 4, reason)
        return Truncated(offset)

    def _check_start(self) -> None:
        """Check that a first block that is cut short begins like a section header. Raises CaptureError."""
        if self._offset == 0:
            start = bytes(self._window.data[8:14])
            if not any((magic + MAJOR[order]).startswith(start) for magic, order in ORDERS.items()):
                raise CaptureError(8, f"not a section header ({start.hex(' ')})")


def _opened(file: io.BufferedIOBase) -> ReadBuffer:
    window = ReadBuffer(file)
    if not window.has(1):
        raise CaptureError(0, "the file is empty")
    window.has(AROUND)
    if not MAGIC.startswith(window.data[:4]):
        raise CaptureError(0, "not a pcapng file")
    return window


def _run(window: ReadBuffer, layout: Layout, interfaces: list[Interface]) -> Run | None:
    """Return the next Enhanced Packet Blocks of one interface without options.

    None: the next block has other content, and needs `read_block`.
    """
    places: list[tuple[int, int, int]] = []
    head, tail = layout.enhanced.unpack_from, layout.tail.unpack_from
    on: Interface | None = None
    interface_id = -1
    data, at = window.data, window.at
    least = ENHANCED_LEAST
    last = len(data) - least
    while at <= last and len(places) < RUN:
        kind, length, index, high, low, captured, _ = head(data, at)
        if kind != ENHANCED or not 0 <= length - least - captured < 4 or length & 3:
            break
        if on is None and index < len(interfaces):
            on, interface_id = interfaces[index], index
        if on is None or index != interface_id:
            break
        end = at + length
        if end > len(data) or length > BLOCK_LIMIT or tail(data, end - 4) != (length,):
            break
        start = at + BEFORE
        places.append((on.time(high << 32 | low), start, start + captured))
        at = end
    if on is None or not places:
        return None
    window.at = at
    return Run(on.linktype, data, places, window.before, BEFORE)


def _size(file: io.BufferedIOBase) -> int | None:
    if not file.seekable():
        return None
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size
