"""The parts of a record set of any magic, as far as it can be read.

Layouts: KIP-98 (magic 2), and the message sets of magic 0 and 1 (KIP-31, KIP-32; LegacyRecord). Compressed
data are one part here; `barnabas.fuzz.frame_map.compressed` maps their content.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, Final

from barnabas.fuzz.frame_map.parts import Part, Parts
from barnabas.specs.malformed import Malformed
from barnabas.specs.records.record import varint

_HEAD: Final = (
    ("partition_leader_epoch", "int32", 12),
    ("magic", "int8", 16),
    ("crc", "crc32c", 17),
    ("attributes", "int16", 21),
    ("last_offset_delta", "int32", 23),
    ("base_timestamp", "int64", 27),
    ("max_timestamp", "int64", 35),
    ("producer_id", "int64", 43),
    ("producer_epoch", "int16", 51),
    ("base_sequence", "int32", 53),
)
"""The header of a batch of magic 2, after its length: name, coding and offset."""

_MESSAGE: Final = (("crc", "crc32", 12), ("magic", "int8", 16), ("attributes", "int8", 17))
_TIMESTAMP: Final = ("timestamp", "int64", 18)
"""The header of a message of magic 0 or 1, and what magic 1 has in addition."""

_SIZES: Final = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "crc32": 4, "crc32c": 4}
_OVERHEAD: Final = 61
_LEAST: Final = (26, 34, _OVERHEAD)

_Around = tuple[int, ...]


def note(data: bytes, parts: Parts, field: Part) -> None:
    """Add the parts of the record set in a field of `records`; stops where the bytes are no batch."""
    reader = _Reader(data, parts)
    at, index = field.start, 0
    while field.end - at >= _LEAST[0]:
        end = at + 12 + reader.signed(at + 8, 4)
        magic = data[at + 16]
        if magic > 2 or not at + _LEAST[magic] <= end <= field.end:
            return
        path = f"{field.path}[{index}]"
        parts.add(Part(path, "batch", at, end, around=field.around, value=magic))
        # malformed records end a batch's parts; the next batch may be valid
        with contextlib.suppress(Malformed, IndexError):
            (reader.batch if magic == 2 else reader.message)(path, at, end, field.around)
        at, index = end, index + 1


def note_records(data: bytes, parts: Parts, path: str) -> None:
    """Add the parts of decompressed records of magic 2, which follow an int32 of their number."""
    reader = _Reader(data, parts)
    around = (reader.number(f"{path}.count", "int32", 0, (), kind="count"),)
    parts.add(Part(path, "array", 4, len(data), around=around, value=reader.signed(0, 4)))
    with contextlib.suppress(Malformed, IndexError):
        reader.records(path, 4, len(data), around)


class _Reader:
    """A reader of batches that adds their parts. Raises Malformed, IndexError if they can't be read."""

    def __init__(self, data: bytes, parts: Parts) -> None:
        self.data = data
        self.parts = parts

    def signed(self, at: int, size: int) -> int:
        """Return a signed big-endian number."""
        return int.from_bytes(self.data[at : at + size], "big", signed=True)

    def number(
        self, path: str, coding: str, at: int, around: _Around, *, kind: str = "", **more: Any
    ) -> int:
        """Add a number of a fixed size; return its index."""
        end = at + _SIZES[coding]
        value = self.signed(at, end - at)
        return self.parts.add(
            Part(path, kind or coding, at, end, around=around, coding=coding, value=value, **more)
        )

    def varint(
        self, path: str, coding: str, at: int, around: _Around, *, kind: str = "", **more: Any
    ) -> tuple[int, int, int]:
        """Add a varint; return its index, its value and its end."""
        value, end = varint(self.data, at, path, bits=64 if coding == "varlong" else 32)
        index = self.parts.add(
            Part(path, kind or coding, at, end, around=around, coding=coding, value=value, **more)
        )
        return index, value, end

    def batch(self, path: str, at: int, end: int, around: _Around) -> None:
        """Add the parts of a batch of magic 2."""
        around = self._head(path, at, end, around, _HEAD)
        count = self.number(f"{path}.records.count", "int32", at + 57, around, kind="count")
        around = (count, *around)
        begin = at + _OVERHEAD
        if self.data[at + 22] & 7:
            packed = Part(f"{path}.packed", "packed", begin, end, around=around, value=end - begin)
            self.parts.add(packed)
            return
        value = self.signed(at + 57, 4)
        self.parts.add(Part(f"{path}.records", "array", begin, end, around=around, value=value))
        self.records(f"{path}.records", begin, end, around)

    def message(self, path: str, at: int, end: int, around: _Around) -> None:
        """Add the parts of a message of magic 0 or 1, which may be the wrapper of others."""
        magic = self.data[at + 16]
        fields = (*_MESSAGE, _TIMESTAMP) if magic else _MESSAGE
        around = self._head(path, at, end, around, fields)
        wrapper = bool(self.data[at + 17] & 7)
        begin = at + (26 if magic else 18)
        for name in ("key", "value"):
            size = self.signed(begin, 4)
            after = begin + 4 + max(size, 0)
            if after > end:
                raise Malformed(f"{path}.{name}", begin, f"{size} bytes announced")
            length = self.number(
                f"{path}.{name}.length", "int32", begin, around, kind="length", nullable=True
            )
            kind = "packed" if wrapper and name == "value" else "bytes"
            value_around = (length, *around)
            content = Part(
                f"{path}.{name}", kind, begin + 4, after, True, around=value_around, value=size
            )
            self.parts.add(content)
            begin = after

    def _head(
        self, path: str, at: int, end: int, around: _Around, fields: Iterable[tuple[str, str, int]]
    ) -> _Around:
        """Add offset, length and fields at fixed offsets; return the numbers around the rest."""
        self.number(f"{path}.base_offset", "int64", at, around)
        length = self.number(f"{path}.length", "int32", at + 8, around, kind="length")
        around = (length, *around)
        for name, coding, offset in fields:
            if name == "crc":
                crc = self.number(f"{path}.crc", coding, at + offset, around, kind="crc", until=end)
                around = (crc, *around)
            else:
                self.number(f"{path}.{name}", coding, at + offset, around)
        return around

    def records(self, path: str, at: int, end: int, around: _Around) -> None:
        """Add records of magic 2."""
        number = 0
        while at < end:
            at = self._record(f"{path}[{number}]", at, end, around)
            number += 1

    def _record(self, path: str, at: int, limit: int, around: _Around) -> int:
        """Add a record; return its end."""
        size, begin = varint(self.data, at, path)
        end = begin + size
        if size < 0 or end > limit:
            raise Malformed(path, at, f"{size} bytes announced")
        index, _, _ = self.varint(f"{path}.length", "varint", at, around, kind="length")
        self.parts.add(Part(path, "record", at, end, around=around))
        around = (index, *around)
        name, value = f"{path}.attributes", self.data[begin]
        self.parts.add(Part(name, "int8", begin, begin + 1, False, False, around, "int8", value))
        _, _, at = self.varint(f"{path}.timestamp_delta", "varlong", begin + 1, around)
        _, _, at = self.varint(f"{path}.offset_delta", "varint", at, around)
        for name in ("key", "value"):
            at = self._sized(f"{path}.{name}", "bytes", at, around, nullable=True)
        index, count, at = self.varint(f"{path}.headers.count", "varint", at, around, kind="count")
        around = (index, *around)
        self.parts.add(Part(f"{path}.headers", "array", at, end, around=around, value=count))
        for number in range(min(max(count, 0), end - at)):
            header = f"{path}.headers[{number}]"
            whole = self.parts.add(Part(header, "header", at, end, around=around))
            at = self._sized(f"{header}.key", "string", at, around, nullable=False)
            at = self._sized(f"{header}.value", "bytes", at, around, nullable=True)
            self.parts.ends(whole, at)
        return end

    def _sized(self, path: str, kind: str, at: int, around: _Around, *, nullable: bool) -> int:
        """Add bytes or text after a varint of their length; return their end."""
        size, after = varint(self.data, at, path)
        end = after + max(size, 0)
        if end > self.parts.size:
            raise Malformed(path, at, f"{size} bytes announced")
        index, _, _ = self.varint(
            f"{path}.length", "varint", at, around, kind="length", nullable=nullable
        )
        content = Part(path, kind, after, end, nullable, around=(index, *around), value=size)
        self.parts.add(content)
        return end
