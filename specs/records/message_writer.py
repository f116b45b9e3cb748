"""Writes messages of magic 0 and 1, and the wrappers of compressed ones (Kafka's LegacyRecord).

A wrapper has the offset of its last message. In magic 0 the inner offsets are absolute. In magic 1 they count
from the first (KIP-31), unless the wrapper's offset is 0, as old librdkafka wrote it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.specs.codec.careful_encoder import Unfit
from barnabas.specs.records.message_set import LOG_APPEND_TIME
from barnabas.specs.records.record import Record
from barnabas.specs.records.validation import fit_int, fit_record

_HEADS: Final = (struct.Struct(">bb"), struct.Struct(">bbq"))  # magic to timestamp
_ENTRY: Final = struct.Struct(">qiI")
_INT32: Final = struct.Struct(">i")
_NULL: Final = _INT32.pack(-1)


def write_messages(
    records: Sequence[Record], *, magic: int, attributes: int, append_time: int | None = None
) -> bytes:
    """Return a message for each record; `append_time` replaces every timestamp of magic 1.

    Raises:
        Unfit: A message can't hold a value; the path is e.g. `records[3].headers`.

    >>> write_messages([Record(7, -1, None, b"v")], magic=0, attributes=0).hex(" ", -4)
    '00000000 00000007 0000000f d20cbff5 0000ffff ffff0000 000176'
    """
    fit = _fit(records, magic)
    if append_time is not None:
        fit_int("max_timestamp", append_time, 64)
        fit = [record._replace(timestamp=append_time) for record in fit]
    return b"".join(
        _message(record.offset, magic, attributes, record.timestamp, record.key, record.value)
        for record in fit
    )


def write_wrapper(
    records: Sequence[Record],
    compressor: Callable[[bytes], bytes],
    *,
    magic: int,
    attributes: int,
    last_offset: int | None = None,
    max_timestamp: int | None = None,
) -> bytes:
    """Return the message around compressed ones; fields that are None follow from them.

    Raises:
        Unfit: As `write_messages`, or readers would compute other offsets.
    """
    inner = _fit(records, magic)
    if not inner:
        raise Unfit("records", "Kafka rejects a wrapper without a message inside")
    last = inner[-1].offset
    offset = last if last_offset is None else fit_int("last_offset", last_offset, 64)
    base = 0
    if magic == 1 and offset != 0:
        if offset != last:
            raise Unfit("last_offset", f"the last record's, {last}, or 0 in magic 1, not {offset}")
        base = inner[0].offset if min(record.offset for record in inner) > 0 else 0
    timestamp = max_timestamp
    if timestamp is None:
        timestamp = max(record.timestamp for record in inner)
    messages = b"".join(
        _message(
            record.offset - base,
            magic,
            attributes & (LOG_APPEND_TIME if magic == 1 else 0),
            record.timestamp,
            record.key,
            record.value,
        )
        for record in inner
    )
    fit_int("max_timestamp", timestamp, 64)
    return _message(offset, magic, attributes, timestamp, None, compressor(messages))


def _message(
    offset: int, magic: int, attributes: int, timestamp: int, key: bytes | None, value: bytes | None
) -> bytes:
    head = _HEADS[magic].pack(magic, attributes, *(timestamp,) * magic)
    key_size = _NULL if key is None else _INT32.pack(len(key))
    value_size = _NULL if value is None else _INT32.pack(len(value))
    checked = b"".join((head, key_size, key or b"", value_size, value or b""))
    return _ENTRY.pack(offset, len(checked) + 4, zlib.crc32(checked)) + checked


def _fit(records: Sequence[Record], magic: int) -> list[Record]:
    fit = [fit_record(record, f"records[{index}]") for index, record in enumerate(records)]
    for index, record in enumerate(fit):
        if record.headers:
            raise Unfit(f"records[{index}].headers", f"magic {magic} has none")
        if magic == 0 and record.timestamp != -1:
            raise Unfit(f"records[{index}].timestamp", "magic 0 has none, so it is -1")
    return fit
