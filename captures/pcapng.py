"""pcapng blocks: built as buffers to write, and read from a file of any origin.

Layout: draft-ietf-opsawg-pcapng. What is written is little-endian, one section, one interface with
times in ns; what is read may be of either byte order, with several sections and interfaces.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

Buffer = bytes | memoryview

BLOCK_LIMIT: Final = 64 << 20
"""Bytes of the longest block that is read."""

_SECTION, _INTERFACE, _OBSOLETE, _SIMPLE, _STATISTICS, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 5, 6
NUMBERED: Final = (9, 0x204, 0x216, 0xBAD, 0x4000_0BAD)
"""Blocks that are no packets and still have a number of their own in Wireshark: journal entries, events
of the system, custom blocks."""
_OPT_COMMENT, _SHB_USERAPPL, _IF_TSRESOL, _IF_TSOFFSET, _ISB_IFDROP = 1, 4, 9, 14, 5
_PIECE: Final = 65_532
"""Bytes of a comment in one option at most."""
_FULL: Final = _PIECE - 3
"""An option of so many bytes or more goes on in the next one, which may be empty."""
_INTERFACE_LIMIT: Final = 1 << 16
_YEAR_10000: Final = 253_402_300_800 * 10**9
"""A time from here on is none that could be written down: the block is damaged, or lies."""

_EPB = struct.Struct("<7I")
_LENGTH = struct.Struct("<I")
_PADDING: Final = (b"", b"\0\0\0", b"\0\0", b"\0")


class CaptureError(ValueError):
    """A file that is no capture, or a broken one: byte offset in the file, what was expected."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason


# build


def section(comment: str, application: str) -> bytes:
    """A Section Header Block; its length is left open, as a file being written has none yet."""
    options = comment_option(comment) + _option(_SHB_USERAPPL, application.encode())
    return _block(_SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _ended(options))


def interface(linktype: int) -> bytes:
    """An Interface Description Block: no snap length, times in ns."""
    options = _option(_IF_TSRESOL, b"\x09")
    return _block(_INTERFACE, struct.pack("<HHI", linktype, 0, 0) + _ended(options))


def packet(ts_ns: int, headers: bytes, payload: Buffer, options: bytes = b"") -> tuple[Buffer, ...]:
    """An Enhanced Packet Block on interface 0, as buffers; the payload is not copied.

    `options` are those of `comment_option`.

    >>> [len(buffer) for buffer in packet(0, b"head", b"payload")]
    [32, 7, 5]
    """
    size = len(headers) + len(payload)
    tail = _PADDING[size & 3]
    if options:
        tail += _ended(options)
    length = 32 + size + len(tail)
    head = _EPB.pack(_ENHANCED, length, 0, ts_ns >> 32, ts_ns & 0xFFFFFFFF, size, size) + headers
    return head, payload, tail + _LENGTH.pack(length)


def statistics(ts_ns: int, comment: str, dropped: int | None = None) -> bytes:
    """An Interface Statistics Block: packets lost so far, or only a place for a comment."""
    options = comment_option(comment)
    if dropped is not None:
        options += _option(_ISB_IFDROP, struct.pack("<Q", dropped))
    head = struct.pack("<III", 0, ts_ns >> 32, ts_ns & 0xFFFFFFFF)
    return _block(_STATISTICS, head + _ended(options))


def comment_option(text: str) -> bytes:
    r"""A comment as options: one, or several that are filled to the brim if it is a long one.

    A lone surrogate is written as \uXXXX, which is the same text where the comment is JSON.
    """
    data = text.encode("utf-8", "backslashreplace")
    options = b""
    while len(data) >= _FULL:
        end = min(_PIECE, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # not within a character
            end -= 1
        options += _option(_OPT_COMMENT, data[:end])
        data = data[end:]
    return options + _option(_OPT_COMMENT, data)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + _PADDING[len(value) & 3]


def _ended(options: bytes) -> bytes:
    return options + b"\0\0\0\0"


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + _LENGTH.pack(length)


# read


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


class Packet(NamedTuple):
    """A packet; a Simple Packet Block has no time (0). Times in ns since 1970."""

    ts_ns: int
    linktype: int
    data: bytes
    comments: tuple[str, ...]
    file_offset: int


class Statistics(NamedTuple):
    """An Interface Statistics Block; `dropped` is None if it does not say how many were lost."""

    ts_ns: int
    comments: tuple[str, ...]
    dropped: int | None
    file_offset: int


class Other(NamedTuple):
    """A block of a kind that is skipped."""

    kind: int
    file_offset: int


class Truncated(NamedTuple):
    """The file ends within a block that begins here: its writer was killed. Always the last."""

    file_offset: int


Block = Section | Interface | Packet | Statistics | Other | Truncated


def read_blocks(file: BinaryIO) -> Iterator[Block]:
    """The blocks of a file from its beginning. Raises CaptureError and whatever `file` raises."""
    size = _size(file)
    offset = 0
    order = ""
    interfaces: list[Interface] = []
    while head := file.read(12):
        if not order:
            _check_magic(head)
        if len(head) < 12:
            yield Truncated(offset)
            return
        if head.startswith(b"\n\r\r\n"):
            order = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}.get(head[8:], "")
            if not order:
                raise CaptureError(offset + 8, f"byte-order magic {head[8:].hex()}")
        kind, length = struct.unpack(order + "II", head[:8])
        if length < 12 or length % 4 or length > BLOCK_LIMIT:
            raise CaptureError(offset + 4, f"block length {length}")
        if size is not None and length > size - offset:
            yield Truncated(offset)
            return
        rest = file.read(length - 12)
        if len(rest) < length - 12:
            yield Truncated(offset)
            return
        whole = head[8:] + rest
        if (again := struct.unpack(order + "I", whole[-4:])[0]) != length:
            raise CaptureError(offset + length - 4, f"block length {length}, repeated as {again}")
        block = _Body(whole[:-4], order, offset).read(kind, interfaces)
        if isinstance(block, Section):
            interfaces.clear()
        elif isinstance(block, Interface):
            interfaces.append(block)
        yield block
        offset += length
    if not order:
        raise CaptureError(0, "the file is empty")


def _size(file: BinaryIO) -> int | None:
    if not file.seekable():
        return None
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def _check_magic(head: bytes) -> None:
    if b"\n\r\r\n".startswith(head[:4]):
        return
    raise CaptureError(0, "not a pcapng file")


class _Body:
    """The body of one block: all reading is checked against its end."""

    def __init__(self, data: bytes, order: str, offset: int) -> None:
        self.data = data
        self.order = order
        self.offset = offset

    def fault(self, at: int, reason: str) -> CaptureError:
        return CaptureError(self.offset + 8 + at, reason)

    def fields(self, layout: str) -> tuple[int, ...]:
        """The numbers that the body begins with."""
        try:
            return struct.unpack_from(self.order + layout, self.data)
        except struct.error:
            raise self.fault(0, f"a block body of {len(self.data)} bytes is too short") from None

    def read(self, kind: int, interfaces: list[Interface]) -> Block:
        if kind in (_ENHANCED, _OBSOLETE):
            # the obsolete Packet Block counts drops where the newer one's interface goes on
            index, high, low, captured, _ = self.fields("5I" if kind == _ENHANCED else "Hxx4I")
            on = self.interface(interfaces, index)
            end = 20 + captured
            if end > len(self.data):
                raise self.fault(12, f"{captured} bytes of packet in a shorter block")
            options = self.options(end + (-end & 3))
            time = self.time(on, high, low)
            comments = self.comments(options)
            return Packet(time, on.linktype, self.data[20:end], comments, self.offset)
        if kind == _SIMPLE:
            (original,) = self.fields("I")
            on = self.interface(interfaces, 0)
            end = 4 + min(original, on.snaplen or original)
            return Packet(0, on.linktype, self.data[4:end], (), self.offset)
        if kind == _STATISTICS:
            index, high, low = self.fields("3I")
            on = self.interface(interfaces, index)
            options = self.options(12)
            drops = [self.integer("Q", value) for code, value in options if code == _ISB_IFDROP]
            drop = drops[0] if drops else None
            return Statistics(self.time(on, high, low), self.comments(options), drop, self.offset)
        if kind == _INTERFACE:
            return self.described(len(interfaces))
        if kind == _SECTION:
            _, major, _, _ = self.fields("IHHq")
            if major != 1:
                raise self.fault(4, f"pcapng version {major}, not 1")
            options = self.options(16)
            names = [value for code, value in options if code == _SHB_USERAPPL]
            name = names[0].decode(errors="replace") if names else ""
            return Section(self.comments(options), name, self.offset)
        return Other(kind, self.offset)

    def described(self, count: int) -> Interface:
        if count >= _INTERFACE_LIMIT:
            raise self.fault(0, f"more than {count} interfaces")
        linktype, _, snaplen = self.fields("HHI")
        ticks, offset_ns = 10**6, 0
        for code, value in self.options(8):
            if code == _IF_TSRESOL:
                exponent = self.integer("B", value)
                ticks = (2 if exponent & 0x80 else 10) ** (exponent & 0x7F)
            elif code == _IF_TSOFFSET:
                offset_ns = self.integer("q", value) * 10**9
        return Interface(linktype, snaplen, ticks, offset_ns)

    def interface(self, interfaces: list[Interface], index: int) -> Interface:
        if index >= len(interfaces):
            raise self.fault(0, f"interface {index} is not described")
        return interfaces[index]

    def time(self, on: Interface, high: int, low: int) -> int:
        time = (high << 32 | low) * 10**9 // on.ticks + on.offset_ns
        return time if 0 <= time < _YEAR_10000 else 0

    def integer(self, layout: str, value: bytes) -> int:
        if len(value) != struct.calcsize("=" + layout):
            raise self.fault(0, f"an option of {len(value)} bytes where a number is due")
        number: int = struct.unpack(self.order + layout, value)[0]
        return number

    def options(self, at: int) -> list[tuple[int, bytes]]:
        """(code, value) of the options that begin here and go to the body's end at most."""
        found = []
        while at + 4 <= len(self.data):
            code, length = struct.unpack_from(self.order + "HH", self.data, at)
            if code == 0:
                break
            at += 4
            if at + length > len(self.data):
                raise self.fault(at, f"an option of {length} bytes goes past the block")
            found.append((code, self.data[at : at + length]))
            at += length + (-length & 3)
        return found

    def comments(self, options: list[tuple[int, bytes]]) -> tuple[str, ...]:
        """The comments; one that fills its option goes on in the next."""
        if not options:
            return ()
        found = []
        pending = b""
        for code, value in options:
            if code == _OPT_COMMENT:
                pending += value
                if len(value) < _FULL:
                    found.append(pending)
                    pending = b""
        if pending:
            found.append(pending)
        return tuple(text.decode(errors="replace") for text in found)
