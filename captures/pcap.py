"""Classic pcap files: packets of one link type, read from a file of any origin.

Layout: draft-ietf-opsawg-pcap. Either byte order, times in µs or ns; also the records of 24 bytes
that patched Linux kernels once wrote ("modified" pcap).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from captures.pcapng import BLOCK_LIMIT, RUN, Block, CaptureError, Run, Truncated, each

MAGICS: Final = {
    bytes.fromhex("a1b2c3d4"): (">", 1000, 16),
    bytes.fromhex("d4c3b2a1"): ("<", 1000, 16),
    bytes.fromhex("a1b23c4d"): (">", 1, 16),
    bytes.fromhex("4d3cb2a1"): ("<", 1, 16),
    bytes.fromhex("a1b2cd34"): (">", 1000, 24),
    bytes.fromhex("34cdb2a1"): ("<", 1000, 24),
}
"""How a file begins: its byte order, ns in a tick, bytes of a record's header."""

_HEADER: Final = 24
_LINKTYPE: Final = 0xFFFF
"""The bits of the last field that are the link type; above them stands the length of a checksum."""
_PIECE: Final = 1 << 18


def read_packets(file: BinaryIO) -> Iterator[Block]:
    """The packets of a file from its beginning. Raises CaptureError, at once if it is no such file,
    and whatever `file` raises."""
    return each(read_runs(file))


def read_runs(file: BinaryIO) -> Iterator[Run | Truncated]:
    """The same in runs."""
    header = file.read(_HEADER)
    if header[:4] not in MAGICS:
        raise CaptureError(0, "not a pcap file")
    if len(header) < _HEADER:
        return iter([Truncated(0)])
    order, tick, size = MAGICS[header[:4]]
    major, network = struct.unpack(order + "4xH14xI", header)
    if major != 2:
        raise CaptureError(4, f"pcap version {major}, not 2")
    return _runs(file, order, tick, size, network & _LINKTYPE)


def _runs(
    file: BinaryIO, order: str, tick: int, size: int, linktype: int
) -> Iterator[Run | Truncated]:
    record = struct.Struct(order + "III").unpack_from
    data, at, offset = b"", 0, _HEADER
    while True:
        places: list[tuple[int, int, int]] = []
        begun, length = at, 0
        while len(data) - at >= size and len(places) < RUN:
            seconds, ticks, length = record(data, at)
            end = at + size + length
            if end > len(data):
                break
            places.append((seconds * 1_000_000_000 + ticks * tick, at + size, end))
            at = end
        if places:
            yield Run(linktype, data, places, offset - begun, size)
            offset += at - begun
            continue
        if length > BLOCK_LIMIT:
            raise CaptureError(offset + 8, f"a packet of {length} bytes")
        more = file.read(max(0, at + size + length - len(data)) + _PIECE)
        data, at = data[at:] + more, 0
        if not more:
            break
    if data:
        yield Truncated(offset)
