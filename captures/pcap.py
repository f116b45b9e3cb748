"""Classic pcap files: packets of one link type, read from a file of any origin.

Layout: draft-ietf-opsawg-pcap. Either byte order, times in µs or ns; also the records of 24 bytes
that patched Linux kernels once wrote ("modified" pcap).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from captures.pcapng import BLOCK_LIMIT, CaptureError, Packet, Truncated

MAGICS: Final = {
    bytes.fromhex("a1b2c3d4"): (">", 1000, 16),
    bytes.fromhex("d4c3b2a1"): ("<", 1000, 16),
    bytes.fromhex("a1b23c4d"): (">", 1, 16),
    bytes.fromhex("4d3cb2a1"): ("<", 1, 16),
    bytes.fromhex("a1b2cd34"): (">", 1000, 24),
    bytes.fromhex("34cdb2a1"): ("<", 1000, 24),
}
"""How a file begins: its byte order, ns in a tick, bytes of a record's header."""

HEADER: Final = 24
"""Bytes before the first record."""
_LINKTYPE: Final = 0xFFFF
"""The bits of the last field that are the link type; above them stands the length of a checksum."""
_PIECE: Final = 1 << 20


def read_packets(file: BinaryIO) -> Iterator[Packet | Truncated]:
    """The packets of a file from its beginning. Raises CaptureError, at once if it is no such file,
    and whatever `file` raises."""
    header = file.read(HEADER)
    if header[:4] in MAGICS and len(header) < HEADER:
        return iter([Truncated(0)])
    return _records(file, *read_header(header))


class Layout(NamedTuple):
    """How a file's records are written: `size` is the bytes before a packet, `tick` ns."""

    order: str
    tick: int
    size: int
    linktype: int


def read_header(header: bytes) -> Layout:
    """What the first 24 bytes of a file say. Raises CaptureError."""
    if header[:4] not in MAGICS:
        raise CaptureError(0, "not a pcap file")
    order, tick, size = MAGICS[header[:4]]
    major, network = struct.unpack(order + "4xH14xI", header)
    if major != 2:
        raise CaptureError(4, f"pcap version {major}, not 2")
    return Layout(order, tick, size, network & _LINKTYPE)


def _records(
    file: BinaryIO, order: str, tick: int, size: int, linktype: int
) -> Iterator[Packet | Truncated]:
    record = struct.Struct(order + "III")
    data, at, offset = b"", 0, HEADER
    while True:
        if len(data) - at < size:
            data, at = data[at:] + file.read(_PIECE), 0
            if len(data) < size:
                break
        seconds, ticks, length = record.unpack_from(data, at)
        if length > BLOCK_LIMIT:
            raise CaptureError(offset + 8, f"a packet of {length} bytes")
        end = at + size + length
        if end > len(data):
            data, at, end = data[at:] + file.read(end - len(data) + _PIECE), 0, size + length
            if end > len(data):
                break
        yield Packet(
            seconds * 1_000_000_000 + ticks * tick, linktype, data[at + size : end], (), offset
        )
        offset += end - at
        at = end
    if data:
        yield Truncated(offset)
