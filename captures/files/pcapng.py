"""Define the blocks of pcapng (draft-ietf-opsawg-pcapng) and their layout, in either byte order.

`block_body` parses one block, `pcapng_file` files of blocks; `barnabas.captures.writing.pcapng` writes them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

Buffer = bytes | bytearray | memoryview
"""Also accepts a memory map."""

BLOCK_LIMIT: Final = 64 << 20
"""Bytes of the longest block that is read."""

SECTION, INTERFACE, STATISTICS, ENHANCED = 0x0A0D0D0A, 1, 5, 6
SIMPLE: Final = 3
NUMBERED: Final = (9, 0x204, 0x216, 0xBAD, 0x4000_0BAD)
"""Blocks other than packets that Wireshark numbers: journal entries, system events, custom blocks."""
OPT_COMMENT, SHB_USERAPPL, IF_TSRESOL, ISB_IFDROP = 1, 4, 9, 5
FULL: Final = 65_529
"""A comment of at least so many bytes in one option continues in the next one, which may be empty."""
NS: Final = 10**9
YEAR_10000: Final = 253_402_300_800 * NS
"""A time from here on can't be formatted: the block is damaged."""
MAGIC: Final = b"\n\r\r\n"
BYTE_ORDER: Final = 0x1A2B3C4D
ORDERS: Final = {BYTE_ORDER.to_bytes(4): ">", BYTE_ORDER.to_bytes(4, "little"): "<"}
AROUND: Final = 12
"""Bytes of a block around its body: type and length before it, the length again after it."""
BEFORE: Final = 28
"""Bytes of an enhanced block before its packet."""
ENHANCED_LEAST: Final = BEFORE + 4
"""Bytes of an enhanced block with an empty packet."""
RUN: Final = 1024
"""Packets of the longest run."""


class Layout(NamedTuple):
    """The common numbers of all blocks, and the numbers before the packet in an enhanced block."""

    head: struct.Struct
    tail: struct.Struct
    enhanced: struct.Struct


LAYOUTS: Final = {
    order: Layout(*(struct.Struct(order + numbers) for numbers in ("2I", "I", "7I")))
    for order in "<>"
}


class CaptureError(ValueError):
    """An error in a capture file: the byte offset, and the reason."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason


class Section(NamedTuple):
    """A Section Header Block, after which earlier interfaces no longer apply."""

    comments: tuple[str, ...]
    application: str
    file_offset: int


class Interface(NamedTuple):
    """An Interface Description Block: `ticks` per second, counted from `offset_ns`."""

    linktype: int
    snaplen: int
    ticks: int
    offset_ns: int

    def time(self, ticks: int) -> int:
        """Convert ticks of the interface to ns since 1970; 0 for an impossible time.

        >>> Interface(1, 0, 10**6, 0).time(5)
        5000
        """
        time = (ticks if self.ticks == NS else ticks * NS // self.ticks) + self.offset_ns
        return time if 0 <= time < YEAR_10000 else 0


class Packet(NamedTuple):
    """A packet; times are ns since 1970, 0 for a Simple Packet Block, which has none."""

    ts_ns: int
    linktype: int
    data: bytes
    comments: tuple[str, ...]
    file_offset: int


class Run(NamedTuple):
    """Consecutive packets without options: `places` in one buffer.

    Most packets only differ in three numbers, and their bytes are not copied.
    """

    linktype: int
    data: memoryview
    places: list[tuple[int, int, int]]
    """For each packet its time in ns since 1970, and its start and end in `data`."""
    file_offset: int
    """The offset of `data` in the file."""
    head: int
    """Bytes of a block before its packet."""

    def packet(self, index: int) -> Packet:
        """Return the packet at an index."""
        ts_ns, start, end = self.places[index]
        offset = self.file_offset + start - self.head
        return Packet(ts_ns, self.linktype, bytes(self.data[start:end]), (), offset)


class Statistics(NamedTuple):
    """An Interface Statistics Block; `dropped` is None without a drop count."""

    ts_ns: int
    comments: tuple[str, ...]
    dropped: int | None
    file_offset: int


class Secrets(NamedTuple):
    """A Decryption Secrets Block with a TLS key log."""

    key_log: bytes
    file_offset: int


class Other(NamedTuple):
    """A block of a type that is skipped."""

    kind: int
    file_offset: int


class Truncated(NamedTuple):
    """The end of a file within a block that begins at this offset: its writer was killed. Always last."""

    file_offset: int


class Damage(NamedTuple):
    """Bytes that are no valid block; after them begins a valid block, or the file ends."""

    file_offset: int
    bytes: int
    at: int
    """The offset of the invalid number or byte."""
    reason: str


Block = Section | Interface | Packet | Statistics | Secrets | Other | Truncated | Damage


def each(blocks: Iterable[Block | Run]) -> Iterator[Block]:
    """Yield blocks one by one, splitting runs into packets."""
    for block in blocks:
        if isinstance(block, Run):
            yield from map(block.packet, range(len(block.places)))
        else:
            yield block


def block_head(data: Buffer, at: int, order: str, offset: int) -> tuple[str, int, int]:
    """Return byte order, type and length of the block at an offset. Raises CaptureError.

    Args:
        data: The bytes with the block.
        at: The offset of the block in `data`.
        order: The byte order of the current section; a section header has its own.
        offset: The offset of the block in its file.
    """
    if data[at : at + 4] == MAGIC:
        order = section_order(data, at, offset)
    kind, length = LAYOUTS[order].head.unpack_from(data, at)
    if length < AROUND or length & 3 or length > BLOCK_LIMIT:
        raise CaptureError(offset + 4, f"block length {length}")
    return order, kind, length


def section_order(data: Buffer, at: int, offset: int) -> str:
    """Return the byte order of the section at an offset. Raises CaptureError."""
    magic = bytes(data[at + 8 : at + 12])
    if magic not in ORDERS:
        raise CaptureError(offset + 8, f"byte-order magic {magic.hex()}")
    return ORDERS[magic]


def check_end(data: Buffer, at: int, order: str, length: int, offset: int) -> None:
    """Check that the length is repeated at the end of a block. Raises CaptureError."""
    (repeated,) = LAYOUTS[order].tail.unpack_from(data, at + length - 4)
    if repeated != length:
        raise CaptureError(offset + length - 4, f"block length {length}, repeated as {repeated}")
