"""Parse the body of one pcapng block: numbers, packet, options, each checked against the block's end."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from barnabas.captures.files.pcapng import (
    ENHANCED,
    FULL,
    IF_TSRESOL,
    INTERFACE,
    ISB_IFDROP,
    NS,
    OPT_COMMENT,
    SECTION,
    SHB_USERAPPL,
    SIMPLE,
    STATISTICS,
    Block,
    CaptureError,
    Interface,
    Other,
    Packet,
    Secrets,
    Section,
    Statistics,
)

_OBSOLETE, _SECRETS = 2, 10
_TLS_KEY_LOG: Final = 0x544C534B
_IF_TSOFFSET: Final = 14
_INTERFACE_LIMIT: Final = 1 << 16


def read_block(block: bytes, order: str, offset: int, interfaces: list[Interface]) -> Block:
    """Parse one whole block.

    `interfaces` are the interfaces that its section has described before. Raises CaptureError.
    """
    (kind,) = struct.unpack_from(order + "I", block)
    return _Body(block[8:-4], order, offset).read(kind, interfaces)


class _Body(NamedTuple):
    """The body of one block, with checked access."""

    data: bytes
    order: str
    offset: int

    def fault(self, at: int, reason: str) -> CaptureError:
        return CaptureError(self.offset + 8 + at, reason)

    def fields(self, layout: str) -> tuple[int, ...]:
        """Unpack the numbers at the beginning of the body."""
        try:
            return struct.unpack_from(self.order + layout, self.data)
        except struct.error:
            raise self.fault(0, f"a block body of {len(self.data)} bytes is too short") from None

    def read(self, kind: int, interfaces: list[Interface]) -> Block:
        if kind in (ENHANCED, _OBSOLETE):
            # the obsolete Packet Block has a drop count where the newer interface id has its last two bytes
            return self.packet("5I" if kind == ENHANCED else "Hxx4I", interfaces)
        if kind == SIMPLE:
            (original,) = self.fields("I")
            on = self.interface(interfaces, 0)
            end = 4 + min(original, on.snaplen or original)
            return Packet(0, on.linktype, self.data[4:end], (), self.offset)
        if kind == STATISTICS:
            return self.statistics(interfaces)
        if kind == INTERFACE:
            return self.described(len(interfaces))
        if kind == SECTION:
            return self.section()
        if kind == _SECRETS:
            secrets, length = self.fields("2I")
            if length > len(self.data) - 8:
                raise self.fault(4, f"{length} bytes of secrets in a shorter block")
            if secrets == _TLS_KEY_LOG:
                return Secrets(self.data[8 : 8 + length], self.offset)
        return Other(kind, self.offset)

    def packet(self, layout: str, interfaces: list[Interface]) -> Packet:
        index, high, low, captured, _ = self.fields(layout)
        on = self.interface(interfaces, index)
        end = 20 + captured
        if end > len(self.data):
            raise self.fault(12, f"{captured} bytes of packet in a shorter block")
        options = self.options(end + (-end & 3))
        time = on.time(high << 32 | low)
        comments = self.comments(options)
        return Packet(time, on.linktype, self.data[20:end], comments, self.offset)

    def statistics(self, interfaces: list[Interface]) -> Statistics:
        index, high, low = self.fields("3I")
        on = self.interface(interfaces, index)
        options = self.options(12)
        drops = [self.integer("Q", value) for code, value in options if code == ISB_IFDROP]
        drop = drops[0] if drops else None
        return Statistics(on.time(high << 32 | low), self.comments(options), drop, self.offset)

    def section(self) -> Section:
        _, major, _, _ = self.fields("IHHq")
        if major != 1:
            raise self.fault(4, f"pcapng version {major}, not 1")
        options = self.options(16)
        names = [value for code, value in options if code == SHB_USERAPPL]
        name = names[0].decode(errors="replace") if names else ""
        return Section(self.comments(options), name, self.offset)

    def described(self, count: int) -> Interface:
        if count >= _INTERFACE_LIMIT:
            raise self.fault(0, f"more than {count} interfaces")
        linktype, _, snaplen = self.fields("HHI")
        ticks, offset_ns = 10**6, 0
        for code, value in self.options(8):
            if code == IF_TSRESOL:
                exponent = self.integer("B", value)
                ticks = (2 if exponent & 0x80 else 10) ** (exponent & 0x7F)
            elif code == _IF_TSOFFSET:
                offset_ns = self.integer("q", value) * NS
        return Interface(linktype, snaplen, ticks, offset_ns)

    def interface(self, interfaces: list[Interface], index: int) -> Interface:
        if index >= len(interfaces):
            raise self.fault(0, f"interface {index} is not described")
        return interfaces[index]

    def integer(self, layout: str, value: bytes) -> int:
        if len(value) != struct.calcsize("=" + layout):
            raise self.fault(0, f"an option of {len(value)} bytes where a number is expected")
        number: int = struct.unpack(self.order + layout, value)[0]
        return number

    def options(self, at: int) -> list[tuple[int, bytes]]:
        """Return code and value of the options from an offset to the body's end."""
        parsed = []
        while at + 4 <= len(self.data):
            code, length = struct.unpack_from(self.order + "HH", self.data, at)
            if code == 0:
                break
            at += 4
            if at + length > len(self.data):
                raise self.fault(at, f"an option of {length} bytes extends past the block")
            parsed.append((code, self.data[at : at + length]))
            at += length + (-length & 3)
        return parsed

    def comments(self, options: list[tuple[int, bytes]]) -> tuple[str, ...]:
        """Return the comments; a comment that fills its option continues in the next one."""
        if not options:
            return ()
        texts = []
        pending = b""
        for code, value in options:
            if code == OPT_COMMENT:
                pending += value
                if len(value) < FULL:
                    texts.append(pending)
                    pending = b""
        if pending:
            texts.append(pending)
        return tuple(text.decode(errors="replace") for text in texts)
