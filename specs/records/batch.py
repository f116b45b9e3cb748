"""A batch of records: its header, and its records on demand.

Magic 2 is a batch with a header of 61 bytes (KIP-98; Kafka's DefaultRecordBatch). In magic 0 and 1, each
message at the top of the set counts as a batch, compressed or not, as in Kafka.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import crc32c

from barnabas.specs.malformed import Malformed
from barnabas.specs.records import message_set
from barnabas.specs.records.compression import MAX_OUTPUT, codec_name, decompress
from barnabas.specs.records.record import Record, add_sequence, int64
from barnabas.specs.records.record_reader import record_reader

TimestampType = Literal["NoTimestampType", "CreateTime", "LogAppendTime"]
"""The clock of the timestamps; Kafka's names."""

OVERHEAD: Final = 61
"""Bytes of a magic 2 batch without records."""

TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40

# base offset, batch length, partition leader epoch, magic, crc, attributes, last offset delta,
# base timestamp, max timestamp, producer id, producer epoch, base sequence, count
_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_CHECKED: Final = (16, 16, 21)  # offset of the first byte that the checksum covers, by magic


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of records. A field that its magic lacks is None or Kafka's -1; position and size are in bytes.

    Iteration decodes one record at a time, and `records()` decodes all; both raise Malformed. An error's
    offset counts in the set. For a path such as `batches[0].gzip.records[3].key` it counts in the output of
    gzip.
    """

    index: int
    position: int
    size: int
    magic: int
    crc: int
    base_offset: int | None
    """None in a compressed magic 0 or 1: the first record has it."""
    last_offset: int
    compression: str
    timestamp_type: TimestampType
    max_timestamp: int
    attributes: int
    count: int | None = None
    """The number of records in the header, from magic 2 on."""
    base_timestamp: int | None = None
    partition_leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    data: memoryview = field(default=memoryview(b""), repr=False)
    max_output: int = field(default=MAX_OUTPUT, repr=False)

    @property
    def crc_ok(self) -> bool:
        """Return whether the checksum fits the bytes; computed each time."""
        return self.crc == self.computed_crc

    @property
    def computed_crc(self) -> int:
        """Return the checksum of the bytes, computed each time."""
        checked = self.data[_CHECKED[self.magic] :]
        return crc32c.crc32c(checked) if self.magic > 1 else zlib.crc32(checked)

    @property
    def is_transactional(self) -> bool:
        """Return whether the records belong to a transaction, which a marker ends."""
        return self.magic > 1 and bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Return whether the records are control records, which no application sees."""
        return self.magic > 1 and bool(self.attributes & CONTROL)

    @property
    def delete_horizon(self) -> int | None:
        """Return the time from which tombstones may be removed, in milliseconds.

        It replaces the base timestamp in the header (KIP-534).
        """
        return self.base_timestamp if self.magic > 1 and self.attributes & DELETE_HORIZON else None

    @property
    def last_sequence(self) -> int:
        """Return the last record's sequence number, or -1 without an idempotent producer."""
        return add_sequence(self.base_sequence, self.last_offset - (self.base_offset or 0))

    def __iter__(self) -> Iterator[Record]:
        path = f"batches[{self.index}]"
        if self.magic > 1:
            return _read_records(self, path)
        return message_set.read_records(
            bytes(self.data), limit=self.max_output, path=path, origin=self.position
        )

    def records(self) -> tuple[Record, ...]:
        """Return all records. They take far more memory than their bytes, so iterate if possible."""
        return tuple(self)


def read_batch(
    data: memoryview, *, index: int = 0, position: int = 0, max_output: int = MAX_OUTPUT
) -> Batch:
    """Read the header of the one whole batch that is `data`, at `position` of its set.

    The caller ensures that `data` has the bytes of a header of its magic.
    """
    read_header = _read_header if data[16] > 1 else _read_message_header
    return read_header(data, index, position, max_output)


def _read_message_header(data: memoryview, index: int, position: int, max_output: int) -> Batch:
    offset, _, crc, magic, attributes = message_set.ENTRY.unpack_from(data)
    compression = codec_name(attributes)
    timestamp = -1
    timestamp_type: TimestampType = "NoTimestampType"
    if magic == 1:
        timestamp = int.from_bytes(data[18:26], "big", signed=True)
        timestamp_type = _timestamp_type(attributes)
    return Batch(
        index=index,
        position=position,
        size=len(data),
        magic=magic,
        crc=crc,
        base_offset=offset if compression == "none" else None,
        last_offset=offset,
        compression=compression,
        timestamp_type=timestamp_type,
        max_timestamp=timestamp,
        attributes=attributes,
        data=data,
        max_output=max_output,
    )


def _read_header(data: memoryview, index: int, position: int, max_output: int) -> Batch:
    (
        base_offset,
        _,
        partition_leader_epoch,
        magic,
        crc,
        attributes,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    ) = _HEADER.unpack_from(data)
    return Batch(
        index=index,
        position=position,
        size=len(data),
        magic=magic,
        crc=crc,
        base_offset=base_offset,
        last_offset=int64(base_offset + last_offset_delta),
        compression=codec_name(attributes),
        timestamp_type=_timestamp_type(attributes),
        max_timestamp=max_timestamp,
        attributes=attributes,
        count=count,
        base_timestamp=base_timestamp,
        partition_leader_epoch=partition_leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        data=data,
        max_output=max_output,
    )


def _timestamp_type(attributes: int) -> TimestampType:
    return "LogAppendTime" if attributes & message_set.LOG_APPEND_TIME else "CreateTime"


def _read_records(batch: Batch, path: str) -> Iterator[Record]:
    """Return the records of a magic 2 batch; as in Kafka, a count of 0 leaves the bytes unread."""
    if batch.count == 0:
        return iter(())
    origin = batch.position + OVERHEAD
    path += "."
    try:
        data = decompress(batch.compression, batch.data[OVERHEAD:], limit=batch.max_output)
    except Malformed as e:
        raise type(e)(path + e.path, origin + e.offset, e.reason) from None
    if batch.compression != "none":
        origin = 0
        path += f"{batch.compression}."
    read = record_reader(batch.base_sequence >= 0, batch.timestamp_type == "LogAppendTime")
    return read(
        data,
        batch.count or 0,
        base_offset=batch.base_offset or 0,
        base_timestamp=batch.base_timestamp or 0,
        base_sequence=batch.base_sequence,
        append_time=batch.max_timestamp,
        path=path,
        origin=origin,
    )
