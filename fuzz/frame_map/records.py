"""Where everything stands in a record set, of any magic: noted as far as it can be read.

Layouts: KIP-98 (magic 2), and the message sets of magic 0 and 1 (KIP-31, KIP-32; LegacyRecord). What is
compressed is one part here; `barnabas.fuzz.frame_map.compressed` maps what is in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Final

from barnabas.fuzz.frame_map.parts import Part, Parts
from barnabas.specs.malformed import Malformed
from barnabas.specs.records.record import varint

_HEAD: Final = (
    ("partition_leader_epoch", "int32", 12),
    ("magic", "int8", 16),
    ("crc", "crc", 17),
    ("attributes", "int16", 21),
    ("last_offset_delta", "int32", 23),
    ("base_timestamp", "int64", 27),
    ("max_timestamp", "int64", 35),
    ("producer_id", "int64", 43),
    ("producer_epoch", "int16", 51),
    ("base_sequence", "int32", 53),
)
"""The header of a batch of magic 2, behind its length: name, kind and place."""

_SIZES: Final = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "crc": 4}
_OVERHEAD: Final = 61
_LEAST: Final = (26, 34, _OVERHEAD)


def note(data: bytes, parts: Parts, field: Part) -> None:
    """Note the parts of the record set that a field of `records` is; stops at what is none."""
    at, index = field.start, 0
    while field.end - at >= _LEAST[0]:
        end = at + 12 + _signed(data, at + 8, 4)
        magic = data[at + 16]
        if magic > 2 or not at + _LEAST[magic] <= end <= field.end:
            return
        path = f"{field.path}[{index}]"
        parts.note(path, "batch", at, end, around=field.around, value=magic)
        # records that are not what they say end a batch's parts; the next batch may be as it should
        with contextlib.suppress(Malformed, IndexError):
            (_note_batch if magic == 2 else _note_message)(data, parts, path, at, end, field.around)
        at, index = end, index + 1


def _note_batch(
    data: bytes, parts: Parts, path: str, at: int, end: int, around: tuple[int, ...]
) -> None:
    around = _entry(data, parts, path, at, around)
    around = _note_head(data, parts, path, at, end, around, _HEAD, "crc32c")
    count = _signed(data, at + 57, 4)
    index = parts.note(
        f"{path}.records.count",
        "count",
        at + 57,
        at + 61,
        around=around,
        coding="int32",
        value=count,
    )
    around = (index, *around)
    begin = at + _OVERHEAD
    if data[at + 22] & 7:
        parts.note(f"{path}.packed", "packed", begin, end, around=around, value=end - begin)
        return
    parts.note(f"{path}.records", "array", begin, end, around=around, value=count)
    number = 0
    while begin < end:
        begin = _note_record(data, parts, f"{path}.records[{number}]", begin, end, around)
        number += 1


def note_records(data: bytes, parts: Parts, path: str) -> None:
    """The same for unpacked records of magic 2, which stand behind an int32 of their number."""
    count = _signed(data, 0, 4)
    parts.note(f"{path}.count", "count", 0, 4, coding="int32", value=count)
    around = (len(parts.found) - 1,)
    parts.note(path, "array", 4, len(data), around=around, value=count)
    at, number = 4, 0
    with contextlib.suppress(Malformed, IndexError):
        while at < len(data):
            at = _note_record(data, parts, f"{path}[{number}]", at, len(data), around)
            number += 1


def _entry(
    data: bytes, parts: Parts, path: str, at: int, around: tuple[int, ...]
) -> tuple[int, ...]:
    """What every magic begins with: an offset and a length."""
    parts.note(
        f"{path}.base_offset", "int64", at, at + 8, around=around, coding="int64",
        value=_signed(data, at, 8),
    )  # fmt: skip
    length = parts.note(
        f"{path}.length", "length", at + 8, at + 12, around=around, coding="int32",
        value=_signed(data, at + 8, 4),
    )  # fmt: skip
    return (length, *around)


def _note_record(
    data: bytes, parts: Parts, path: str, at: int, limit: int, around: tuple[int, ...]
) -> int:
    """A record of magic 2; returns where the next begins. Raises Malformed, IndexError."""
    size, begin = varint(data, at, path)
    end = begin + size
    if size < 0 or end > limit:
        raise Malformed(path, at, f"{size} bytes announced")
    index = parts.note(
        f"{path}.length", "length", at, begin, around=around, coding="varint", value=size
    )
    outer, around = around, (index, *around)
    parts.note(path, "record", at, end, around=outer)
    attributes = data[begin]
    parts.note(
        f"{path}.attributes", "int8", begin, begin + 1, around=around, coding="int8",
        value=attributes,
    )  # fmt: skip
    at = begin + 1
    for name, coding, bits in (
        ("timestamp_delta", "varlong", 64),
        ("offset_delta", "varint", 32),
    ):
        value, after = varint(data, at, path, bits=bits)
        parts.note(f"{path}.{name}", coding, at, after, around=around, coding=coding, value=value)
        at = after
    for name in ("key", "value"):
        at = _note_sized(data, parts, f"{path}.{name}", "bytes", at, around, nullable=True)
    count, after = varint(data, at, path)
    index = parts.note(
        f"{path}.headers.count", "count", at, after, around=around, coding="varint", value=count
    )
    around = (index, *around)
    parts.note(f"{path}.headers", "array", after, end, around=around, value=count)
    at = after
    for number in range(min(max(count, 0), end - at)):
        header = f"{path}.headers[{number}]"
        whole = parts.note(header, "header", at, end, around=around)
        at = _note_sized(data, parts, f"{header}.key", "string", at, around, nullable=False)
        at = _note_sized(data, parts, f"{header}.value", "bytes", at, around, nullable=True)
        parts.ends(whole, at)
    return end


def _note_sized(
    data: bytes,
    parts: Parts,
    path: str,
    kind: str,
    at: int,
    around: tuple[int, ...],
    *,
    nullable: bool,
) -> int:
    """Bytes or text behind a varint of their length."""
    size, after = varint(data, at, path)
    end = after + max(size, 0)
    if end > parts.size:
        raise Malformed(path, at, f"{size} bytes announced")
    index = parts.note(
        f"{path}.length", "length", at, after, nullable=nullable, around=around, coding="varint",
        value=size,
    )  # fmt: skip
    parts.note(path, kind, after, end, nullable=nullable, around=(index, *around), value=size)
    return end


def _note_head(
    data: bytes,
    parts: Parts,
    path: str,
    at: int,
    end: int,
    around: tuple[int, ...],
    fields: Iterable[tuple[str, str, int]],
    checksum: str,
) -> tuple[int, ...]:
    """Fields of a fixed place; gives what is around the rest: the checksum is."""
    for name, kind, offset in fields:
        start = at + offset
        size = _SIZES[kind]
        index = parts.note(
            f"{path}.{name}", kind, start, start + size, around=around,
            coding=checksum if kind == "crc" else kind,
            value=_signed(data, start, size),
            until=end if kind == "crc" else 0,
        )  # fmt: skip
        if kind == "crc":
            around = (index, *around)
    return around


def _note_message(
    data: bytes, parts: Parts, path: str, at: int, end: int, around: tuple[int, ...]
) -> None:
    """A message of magic 0 or 1, which may be the wrapper of others."""
    around = _entry(data, parts, path, at, around)
    magic = data[at + 16]
    names = [("crc", "crc", 12), ("magic", "int8", 16), ("attributes", "int8", 17)]
    if magic:
        names.append(("timestamp", "int64", 18))
    around = _note_head(data, parts, path, at, end, around, names, "crc32")
    wrapper = bool(data[at + 17] & 7)
    begin = at + (26 if magic else 18)
    for name in ("key", "value"):
        size = _signed(data, begin, 4)
        after = begin + 4 + max(size, 0)
        if after > end:
            raise Malformed(f"{path}.{name}", begin, f"{size} bytes announced")
        index = parts.note(
            f"{path}.{name}.length", "length", begin, begin + 4, nullable=True, around=around,
            coding="int32", value=size,
        )  # fmt: skip
        kind = "packed" if wrapper and name == "value" else "bytes"
        parts.note(
            f"{path}.{name}", kind, begin + 4, after, nullable=True, around=(index, *around),
            value=size,
        )  # fmt: skip
        begin = after


def _signed(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big", signed=True)
