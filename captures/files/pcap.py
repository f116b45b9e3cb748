"""Read classic pcap files: packets of one link type.

Layout: draft-ietf-opsawg-pcap. Either byte order, times in µs or ns; also the 24-byte records that patched
Linux kernels once wrote ("modified" pcap).
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from typing import Final

from barnabas.captures.files.block_resync import CHAIN, RecordLayout, skip_to_record
from barnabas.captures.files.pcapng import (
    BLOCK_LIMIT,
    RUN,
    CaptureError,
    Damage,
    Run,
    Truncated,
)
from barnabas.captures.files.read_buffer import ReadBuffer

MAGICS: Final = {
    bytes.fromhex("a1b2c3d4"): (">", 1000, 16),
    bytes.fromhex("d4c3b2a1"): ("<", 1000, 16),
    bytes.fromhex("a1b23c4d"): (">", 1, 16),
    bytes.fromhex("4d3cb2a1"): ("<", 1, 16),
    bytes.fromhex("a1b2cd34"): (">", 1000, 24),
    bytes.fromhex("34cdb2a1"): ("<", 1000, 24),
}
"""By magic number: byte order, ns in a tick, bytes of a record header."""

HEADER: Final = 24
"""Bytes before the first record."""
_LINKTYPE: Final = 0xFFFF
"""The bits of the last field that are the link type; the bits above are the length of a checksum."""


def read_runs(
    file: io.BufferedIOBase, *, recover: bool = False
) -> Iterator[Run | Damage | Truncated]:
    """Yield the packets of a file from its beginning in runs, each valid until the next is requested.

    With `recover`, damage yields `Damage`, and reading continues after it; without, it raises CaptureError.
    Raises CaptureError (at once, if it is not a pcap file), and every error of `file`.
    """
    header = file.read(HEADER)
    if header[:4] in MAGICS and len(header) < HEADER:
        return iter([Truncated(0)])
    size = None
    if file.seekable():
        size = file.seek(0, os.SEEK_END)
        file.seek(HEADER)
    return _runs(ReadBuffer(file, HEADER), read_header(header), recover, size)


def read_header(header: bytes) -> RecordLayout:
    """Parse the first 24 bytes of a file. Raises CaptureError."""
    if header[:4] not in MAGICS:
        raise CaptureError(0, "not a pcap file")
    order, tick, size = MAGICS[header[:4]]
    major, network = struct.unpack(order + "4xH14xI", header)
    if major != 2:
        raise CaptureError(4, f"pcap version {major}, not 2")
    return RecordLayout(order, tick, size, network & _LINKTYPE)


def _runs(
    window: ReadBuffer, layout: RecordLayout, recover: bool, size_of_file: int | None
) -> Iterator[Run | Damage | Truncated]:
    order, tick, size, linktype = layout
    record = struct.Struct(order + "III").unpack_from
    while window.has(size):
        data, at = window.data, window.at
        places: list[tuple[int, int, int]] = []
        length, last = 0, len(data) - size
        while at <= last and len(places) < RUN:
            seconds, ticks, length = record(data, at)
            end = at + size + length
            if end > len(data):
                break
            places.append((seconds * 1_000_000_000 + ticks * tick, at + size, end))
            at = end
        if places:
            window.at = at
            yield Run(linktype, data, places, window.before, size)
        elif length > BLOCK_LIMIT or not window.has(size + length):
            unread = _unread(window, layout, length, recover, size_of_file)
            yield unread
            if isinstance(unread, Truncated):
                return
    if window.at < len(window.data):
        yield Truncated(window.before + window.at)


def _unread(
    window: ReadBuffer, layout: RecordLayout, length: int, recover: bool, size_of_file: int | None
) -> Damage | Truncated:
    """Skip a record that is damaged, or that the file ends in. Raises CaptureError without `recover`."""
    offset, cut = window.before + window.at, length <= BLOCK_LIMIT
    reason = "the packet would not end within the file" if cut else f"a packet of {length} bytes"
    if not recover and not cut:
        raise CaptureError(offset + 8, reason)
    if recover:
        skip_to_record(window, layout, least=CHAIN if cut else 1)
    else:
        window.at = len(window.data)
    # a file that is being written may have grown meanwhile
    grown = size_of_file is not None and window.before + window.at >= size_of_file
    if cut and (window.at == len(window.data) or grown):
        return Truncated(offset)
    return Damage(offset, window.before + window.at - offset, offset + 8, reason)
