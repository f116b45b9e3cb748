"""Read pcapng files of any origin, with any number of sections and interfaces."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator

from barnabas.captures.files.block_body import read_block
from barnabas.captures.files.pcapng import (
    AROUND,
    BEFORE,
    BLOCK_LIMIT,
    ENHANCED,
    ENHANCED_LEAST,
    LAYOUTS,
    MAGIC,
    RUN,
    Block,
    CaptureError,
    Interface,
    Layout,
    Packet,
    Run,
    Section,
    Truncated,
    block_head,
    check_end,
)
from barnabas.captures.files.read_buffer import ReadBuffer


def read_runs(file: io.BufferedIOBase) -> Iterator[Block | Run]:
    """Yield the blocks of a file from its beginning, each valid until the next is requested.

    Packets without options are in runs. Raises CaptureError, and every error of `file`.
    """
    size = _size(file)
    window = _opened(file)
    order, layout = "<", LAYOUTS["<"]
    interfaces: list[Interface] = []
    while window.has(AROUND):
        run = _run(window, layout, interfaces)
        if run is not None:
            yield run
            continue
        data, at, offset = window.data, window.at, window.before + window.at
        order, kind, length = block_head(data, at, order, offset)
        layout = LAYOUTS[order]
        if (size is not None and length > size - offset) or not window.has(length):
            break
        if window.data is not data:  # the buffer was refilled: the block may be a plain packet
            continue
        check_end(data, at, order, length, offset)
        block = read_block(bytes(data[at : at + length]), order, offset, interfaces)
        if isinstance(block, Section):
            interfaces.clear()
        elif isinstance(block, Interface):
            interfaces.append(block)
        window.at += length
        if isinstance(block, Packet) and kind == ENHANCED and not block.comments:
            bounds = block.ts_ns, at + BEFORE, at + BEFORE + len(block.data)
            yield Run(block.linktype, data, [bounds], window.before, BEFORE)
        else:
            yield block
    if window.at < len(window.data):
        yield Truncated(window.before + window.at)


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
