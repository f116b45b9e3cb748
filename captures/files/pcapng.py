"""The blocks of pcapng (draft-ietf-opsawg-pcapng): what they hold, and their layout, in either byte order.

`block_body` reads one, `pcapng_file` files of them; `barnabas.captures.writing.pcapng` makes them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

Buffer = bytes | bytearray | memoryview
"""Or a memory map."""

BLOCK_LIMIT: Final = 64 << 20
"""Bytes of the longest block that is read."""

SECTION, INTERFACE, STATISTICS, ENHANCED = 0x0A0D0D0A, 1, 5, 6
SIMPLE: Final = 3
NUMBERED: Final = (9, 0x204, 0x216, 0xBAD, 0x4000_0BAD)
"""Blocks that are no packets and still have a number of their own in Wireshark: journal entries, events
of the system, custom blocks."""
OPT_COMMENT, SHB_USERAPPL, IF_TSRESOL, ISB_IFDROP = 1, 4, 9, 5
FULL: Final = 65_529
"""A comment that fills its option with so many bytes or more goes on in the next one, which may be
empty."""
NS: Final = 10**9
YEAR_10000: Final = 253_402_300_800 * NS
"""A time from here on is none that could be written down: the block is damaged, or lies."""
MAGIC: Final = b"\n\r\r\n"
BYTE_ORDER: Final = 0x1A2B3C4D
ORDERS: Final = {BYTE_ORDER.to_bytes(4): ">", BYTE_ORDER.to_bytes(4, "little"): "<"}
AROUND: Final = 12
"""Bytes of a block around its body: kind and length before it, the length again behind it."""
BEFORE: Final = 28
"""Bytes of an enhanced block before its packet."""
ENHANCED_LEAST: Final = BEFORE + 4
"""Bytes of an enhanced block with an empty packet."""
RUN: Final = 1024
"""Packets of the longest run."""


class Layout(NamedTuple):
    """What stands in every block, and before the packet in an enhanced one."""

    head: struct.Struct
    tail: struct.Struct
    enhanced: struct.Struct


LAYOUTS: Final = {
    order: Layout(*(struct.Struct(order + numbers) for numbers in ("2I", "I", "7I")))
    for order in "<>"
}


class CaptureError(ValueError):
    """A file that is no capture, or a broken one: byte offset in the file, what was expected."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason


class Section(NamedTuple):
    """A Section Header Block: the interfaces before it mean nothing from here on."""

    comments: tuple[str, ...]
    application: str
    file_offset: int


class Interface(NamedTuple):
    """An Interface Description Block: `ticks` a second, counted from `offset_ns`."""

    linktype: int
    snaplen: int
    ticks: int
    offset_ns: int

    def time(self, ticks: int) -> int:
        """So many of its ticks as ns since 1970; 0 for what is no time.

        >>> Interface(1, 0, 10**6, 0).time(5)
        5000
        """
        time = (ticks if self.ticks == NS else ticks * NS // self.ticks) + self.offset_ns
        return time if 0 <= time < YEAR_10000 else 0


class Packet(NamedTuple):
    """A packet; a Simple Packet Block has no time (0). Times in ns since 1970."""

    ts_ns: int
    linktype: int
    data: bytes
    comments: tuple[str, ...]
    file_offset: int


class Run(NamedTuple):
    """Packets without a word, one behind the other: `places` in what was read at once.

    What tells most packets from each other is three numbers, and nothing of them is copied.
    """

    linktype: int
    data: memoryview
    places: list[tuple[int, int, int]]
    """Of each its time in ns since 1970, and where it begins and ends in `data`."""
    file_offset: int
    """Where `data` begins in the file."""
    head: int
    """Bytes of a block before its packet."""

    def packet(self, index: int) -> Packet:
        """One of them."""
        ts_ns, start, end = self.places[index]
        offset = self.file_offset + start - self.head
        return Packet(ts_ns, self.linktype, bytes(self.data[start:end]), (), offset)


class Statistics(NamedTuple):
    """An Interface Statistics Block; `dropped` is None if it does not say how many were lost."""

    ts_ns: int
    comments: tuple[str, ...]
    dropped: int | None
    file_offset: int


class Secrets(NamedTuple):
    """A Decryption Secrets Block with a TLS key log."""

    key_log: bytes
    file_offset: int


class Other(NamedTuple):
    """A block of a kind that is skipped."""

    kind: int
    file_offset: int


class Truncated(NamedTuple):
    """The file ends within a block that begins here: its writer was killed. Always the last."""

    file_offset: int


Block = Section | Interface | Packet | Statistics | Secrets | Other | Truncated


def each(blocks: Iterable[Block | Run]) -> Iterator[Block]:
    """Blocks one by one, whatever stands in runs."""
    for block in blocks:
        if isinstance(block, Run):
            yield from map(block.packet, range(len(block.places)))
        else:
            yield block


def block_head(data: Buffer, at: int, order: str, offset: int) -> tuple[str, int, int]:
    """(byte order, kind, length) of the block that begins here, at `offset` of its file.

    `order` holds but for a section, which says its own. Raises CaptureError.
    """
    if data[at : at + 4] == MAGIC:
        order = section_order(data, at, offset)
    kind, length = LAYOUTS[order].head.unpack_from(data, at)
    if length < AROUND or length & 3 or length > BLOCK_LIMIT:
        raise CaptureError(offset + 4, f"block length {length}")
    return order, kind, length


def section_order(data: Buffer, at: int, offset: int) -> str:
    """The byte order of the section that begins here. Raises CaptureError."""
    magic = bytes(data[at + 8 : at + 12])
    if magic not in ORDERS:
        raise CaptureError(offset + 8, f"byte-order magic {magic.hex()}")
    return ORDERS[magic]


def check_end(data: Buffer, at: int, order: str, length: int, offset: int) -> None:
    """The length is repeated where the block ends. Raises CaptureError."""
    (again,) = LAYOUTS[order].tail.unpack_from(data, at + length - 4)
    if again != length:
        raise CaptureError(offset + length - 4, f"block length {length}, repeated as {again}")
