"""Messages of magic 0 and 1, and the wrappers of compressed ones (KIP-31, KIP-32; LegacyRecord).

offset int64, size int32, crc int32, magic int8, attributes int8, timestamp int64 (magic 1 only), key and
value with int32 lengths. A wrapper's value is a compressed message set.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.specs.malformed import Malformed
from barnabas.specs.records.compression import codec_name, decompress
from barnabas.specs.records.record import Record, int64

LOG_APPEND_TIME: Final = 0x08
"""The attribute for timestamps that the broker set, from magic 1 on."""

OVERHEAD: Final = (26, 34)
"""Bytes of a message without key and value, by magic."""

ENTRY: Final = struct.Struct(">qiIbb")
"""Offset, size, crc, magic, attributes."""

_SIZE_ENDS: Final = 12
_CRC_ENDS: Final = 16


class Message(NamedTuple):
    """A message as encoded: the offset as written, the size with the 12 bytes before it."""

    offset: int
    size: int
    crc: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None


def read_message(data: bytes, start: int, *, path: str, origin: int = 0) -> Message:
    """Read the whole message at `start`, without verifying its checksum.

    Raises:
        Malformed: The message is invalid. Offsets count from `origin`, the position of data.
    """
    offset, size, crc, magic, attributes = ENTRY.unpack_from(data, start)
    end = start + _SIZE_ENDS + size
    if magic not in (0, 1):
        raise Malformed(f"{path}.magic", origin + start + 16, f"magic 0 or 1, not {magic}")
    if end - start < OVERHEAD[magic]:
        least = OVERHEAD[magic] - _SIZE_ENDS
        raise Malformed(f"{path}.size", origin + start + 8, f"at least {least}, not {size}")
    position = start + ENTRY.size
    timestamp = -1
    if magic == 1:
        (timestamp,) = struct.unpack_from(">q", data, position)
        position += 8
    values: list[bytes | None] = []
    for field in ("key", "value"):
        if position + 4 > end:
            reason = f"a length of 4 bytes, {end - position} remain"
            raise Malformed(f"{path}.{field}", origin + position, reason)
        length = int.from_bytes(data[position : position + 4], "big", signed=True)
        if length > end - position - 4:
            reason = f"{length} bytes announced, {end - position - 4} remain"
            raise Malformed(f"{path}.{field}", origin + position, reason)
        position += 4
        # Kafka writes -1 for null, and reads anything below zero as null.
        values.append(data[position : position + length] if length >= 0 else None)
        position += max(length, 0)
    return Message(offset, end - start, crc, magic, attributes, timestamp, values[0], values[1])


def read_records(data: bytes, *, limit: int, path: str, origin: int = 0) -> Iterator[Record]:
    """Yield the record of one whole message or, from a wrapper, the records inside, in order.

    Raises:
        Malformed: A message can't be read, the output exceeds `limit` bytes, or an inner checksum is wrong.
    """
    outer = read_message(data, 0, path=path, origin=origin)
    codec = codec_name(outer.attributes)
    if codec == "none":
        yield Record(outer.offset, outer.timestamp, outer.key, outer.value)
        return
    if codec == "zstd":
        raise Malformed(f"{path}.attributes", origin + 17, "zstd came with magic 2")
    if outer.value is None:
        raise Malformed(f"{path}.value", origin + outer.size - 4, f"null, under {codec}")
    value_at = origin + outer.size - len(outer.value)
    try:
        inner = decompress(codec, outer.value, limit=limit, magic=outer.magic)
    except Malformed as e:
        raise type(e)(f"{path}.{e.path}", value_at + e.offset, e.reason) from None
    yield from _inner_records(outer, inner, f"{path}.{codec}.")


def _inner_records(outer: Message, data: bytes, path: str) -> Iterator[Record]:
    starts, last_offset = _walk(data, path)
    # In magic 1, inner offsets count from 0 and the wrapper has the last one's absolute offset. Old
    # librdkafka left 0 in the wrapper and absolute offsets inside: Kafka takes them as they are.
    base_offset = 0
    if outer.magic == 1 and outer.offset != 0:
        base_offset = outer.offset - last_offset
        if outer.offset < last_offset:
            reason = f"the last offset is {last_offset}, above its wrapper's {outer.offset}"
            raise Malformed(f"{path}records", 0, reason)
    append_time = outer.magic == 1 and outer.attributes & LOG_APPEND_TIME
    for index, start in enumerate(starts):
        record_path = f"{path}records[{index}]"
        message = read_message(data, start, path=record_path)
        crc = zlib.crc32(memoryview(data)[start + _CRC_ENDS : start + message.size])
        if crc != message.crc:
            reason = f"the checksum is {message.crc:#010x}, and should be {crc:#010x}"
            raise Malformed(f"{record_path}.crc", start + _SIZE_ENDS, reason)
        if message.attributes & 7:
            raise Malformed(f"{record_path}.attributes", start + 17, "a wrapper inside a wrapper")
        timestamp = outer.timestamp if append_time and message.magic else message.timestamp
        yield Record(int64(base_offset + message.offset), timestamp, message.key, message.value)


def _walk(data: bytes, path: str) -> tuple[list[int], int]:
    """Return the offsets of the whole messages in a set, and the last message's own offset."""
    starts: list[int] = []
    position = offset = 0
    while position + _SIZE_ENDS <= len(data):
        at, size = struct.unpack_from(">qi", data, position)
        if size < OVERHEAD[0] - _SIZE_ENDS:
            reason = f"at least {OVERHEAD[0] - _SIZE_ENDS}, not {size}"
            raise Malformed(f"{path}records[{len(starts)}].size", position + 8, reason)
        if position + _SIZE_ENDS + size > len(data):
            break
        starts.append(position)
        offset = at
        position += _SIZE_ENDS + size
    if not starts:
        raise Malformed(f"{path}records", 0, "no message inside a wrapper")
    return starts, offset
