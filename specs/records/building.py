"""Building batches of any magic, checksums and all; whole record sets are batches joined.

build([Record(0, 1500000000000, b"k", b"v")])                    a batch of magic 2
build(found, compression="lz4", producer_id=7, base_sequence=0)  as an idempotent producer's
rebuild(batch)                                                   a batch that was read, again
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Final

import crc32c

from specs.codec.build import Unfit
from specs.records import message_set
from specs.records.batch import (
    CONTROL,
    DELETE_HORIZON,
    OVERHEAD,
    TRANSACTIONAL,
    Batch,
    TimestampType,
)
from specs.records.compression import CODECS, codec_name
from specs.records.compressors import compress
from specs.records.record import Record
from specs.records.record_writer import write_records

# partition leader epoch and magic stand in front of the checksum, the rest under it
_FRONT: Final = struct.Struct(">qiibI")
_CHECKED: Final = struct.Struct(">hiqqqhii")
_MESSAGE: Final = struct.Struct(">qiI")


def build(
    records: Iterable[Record],
    *,
    magic: int = 2,
    compression: str = "none",
    base_offset: int | None = None,
    last_offset: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
    timestamp_type: TimestampType = "CreateTime",
    partition_leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
    delete_horizon: int | None = None,
) -> bytes:
    """A batch. Of magic 0 and 1: a message for each record or, compressed, one wrapper around them.

    What is not given follows from the records: the first and last offset, the first and the latest
    timestamp (both in ms). An empty batch, which compaction leaves behind, is given its offsets.
    `delete_horizon` stands in the place of the base timestamp (KIP-534). Magic 0 and 1 have nothing
    of what follows `timestamp_type`. Raises Unfit, with the path of what does not fit.

    >>> from specs.records import read
    >>> data = build([Record(7, 1000, None, b"a"), Record(9, 1005, b"k", None)], compression="gzip")
    >>> [(batch.last_offset, batch.crc_ok, batch.records()[1].key) for batch in read(data)]
    [(9, True, b'k')]
    """
    found = list(records)
    if compression not in CODECS:
        raise Unfit("compression", f"{compression!r} is none of {', '.join(CODECS)}")
    codec = CODECS.index(compression)
    append = timestamp_type == "LogAppendTime"
    times = [record.timestamp for record in found]
    latest = max(times, default=-1) if max_timestamp is None else max_timestamp
    if magic in (0, 1):
        attributes = codec | (message_set.LOG_APPEND_TIME if append and magic else 0)
        if codec == 0:
            return b"".join(
                _message(
                    record.offset, magic, attributes, record.timestamp, record.key, record.value, i
                )
                for i, record in enumerate(found)
            )
        last = found[-1].offset if found else 0
        return _wrapper(
            found, magic, attributes, last if last_offset is None else last_offset, latest
        )
    if magic != 2:
        raise Unfit("magic", f"0, 1 or 2, not {magic}")
    attributes = codec | (message_set.LOG_APPEND_TIME if append else 0)
    attributes |= (TRANSACTIONAL if is_transactional else 0) | (CONTROL if is_control else 0)
    start = found[0].offset if found else 0
    start = start if base_offset is None else base_offset
    first_time = times[0] if times else -1
    first_time = first_time if base_timestamp is None else base_timestamp
    if delete_horizon is not None:
        attributes |= DELETE_HORIZON
        first_time = delete_horizon
    end = found[-1].offset if found else start
    return _batch(
        found,
        base_offset=start,
        partition_leader_epoch=partition_leader_epoch,
        attributes=attributes,
        last_offset=end if last_offset is None else last_offset,
        base_timestamp=first_time,
        max_timestamp=latest,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
    )


def rebuild(batch: Batch, records: Sequence[Record] | None = None) -> bytes:
    """A batch that was read, built again: its header's values around its records, or around others.

    Checksum, size and count are computed. Raises Unfit, or Malformed if its records can't be read.

    >>> from specs.records import read
    >>> data = build([Record(7, 1000, None, b"a")], producer_id=5, is_transactional=True)
    >>> [rebuild(batch) == data for batch in read(data)]
    [True]
    """
    found = batch.records() if records is None else records
    if batch.magic < 2:
        if batch.compression == "none":
            (only,) = found
            return _message(
                only.offset, batch.magic, batch.attributes, only.timestamp, only.key, only.value, 0
            )
        return _wrapper(
            found, batch.magic, batch.attributes, batch.last_offset, batch.max_timestamp
        )
    return _batch(
        found,
        base_offset=batch.base_offset or 0,
        partition_leader_epoch=batch.partition_leader_epoch,
        attributes=batch.attributes,
        last_offset=batch.last_offset,
        base_timestamp=batch.base_timestamp or 0,
        max_timestamp=batch.max_timestamp,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
    )


def with_crc(batch: bytes) -> bytes:
    """The bytes of one batch of any magic with the checksum that fits them: for who changed some.

    >>> data = build([Record(0, 0, None, b"abc")])
    >>> with_crc(data.replace(b"abc", b"abd")) == build([Record(0, 0, None, b"abd")])
    True
    """
    if len(batch) < message_set.OVERHEAD[0]:
        raise Unfit("batch", f"{len(batch)} bytes are none")
    if batch[16] > 1:
        return batch[:17] + struct.pack(">I", crc32c.crc32c(batch[21:])) + batch[21:]
    return batch[:12] + struct.pack(">I", zlib.crc32(batch[16:])) + batch[16:]


def _batch(
    records: Sequence[Record],
    *,
    base_offset: int,
    partition_leader_epoch: int,
    attributes: int,
    last_offset: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
) -> bytes:
    payload = _compressed(attributes, write_records(records, base_offset, base_timestamp), 2)
    try:
        checked = _CHECKED.pack(
            attributes,
            last_offset - base_offset,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            len(records),
        )
        crc = crc32c.crc32c(payload, crc32c.crc32c(checked))
        size = OVERHEAD - 12 + len(payload)
        return _FRONT.pack(base_offset, size, partition_leader_epoch, 2, crc) + checked + payload
    except (struct.error, TypeError) as problem:
        raise Unfit("header", str(problem)) from None


def _wrapper(
    records: Sequence[Record], magic: int, attributes: int, offset: int, timestamp: int
) -> bytes:
    """A compressed message: in magic 1 the offsets inside count from the first, unless it has none."""
    if not records:
        raise Unfit("records", "a wrapper without a message inside is none that Kafka reads")
    relative = magic == 1 and offset != 0
    first = offset - records[-1].offset + records[0].offset if relative else 0
    inner = b"".join(
        _message(
            record.offset - first,
            magic,
            attributes & ~7,
            record.timestamp,
            record.key,
            record.value,
            i,
        )
        for i, record in enumerate(records)
    )
    return _message(
        offset, magic, attributes, timestamp, None, _compressed(attributes, inner, magic), 0
    )


def _compressed(attributes: int, data: bytes, magic: int) -> bytes:
    codec = codec_name(attributes)
    if codec not in CODECS or (codec == "zstd" and magic < 2):
        raise Unfit("compression", f"magic {magic} has no codec {codec}")
    return compress(codec, data, magic=magic)


def _message(
    offset: int,
    magic: int,
    attributes: int,
    timestamp: int,
    key: bytes | None,
    value: bytes | None,
    index: int,
) -> bytes:
    parts = [struct.pack(">bB", magic, attributes & 0xFF)]
    try:
        if magic == 1:
            parts.append(struct.pack(">q", timestamp))
        for field in (key, value):
            parts.append(struct.pack(">i", -1 if field is None else len(field)))
            parts.append(field or b"")
        body = b"".join(parts)
        return _MESSAGE.pack(offset, len(body) + 4, zlib.crc32(body)) + body
    except (struct.error, TypeError) as problem:
        raise Unfit(f"records[{index}]", str(problem)) from None
