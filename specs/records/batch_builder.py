"""Builds batches of any magic, with checksums; whole record sets are concatenated batches.

     build([Record(0, 1500000000000, b"k", b"v")])                      a batch of magic 2
     build(records, compression="lz4", producer_id=7, base_sequence=0)  as an idempotent producer does
     rebuild(batch)                                                     a batch that was read, again
     b"".join(map(rebuild, read(data)))                                 a whole set, again

For a wrong length, count or checksum, change the bytes; `with_crc` corrects the checksum of changed bytes.
Part of a batch, as a Fetch response may have at the end of a set, is a slice of a batch.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Final, TypedDict, Unpack

import crc32c

from barnabas.specs.codec.careful_encoder import Unfit
from barnabas.specs.records import message_set
from barnabas.specs.records.batch import (
    CONTROL,
    DELETE_HORIZON,
    OVERHEAD,
    TRANSACTIONAL,
    Batch,
    TimestampType,
)
from barnabas.specs.records.compression import CODECS, codec_name, compress
from barnabas.specs.records.message_writer import write_messages, write_wrapper
from barnabas.specs.records.record import Record, int64
from barnabas.specs.records.record_writer import write_records
from barnabas.specs.records.validation import fit_int, fit_record

Compressor = Callable[[bytes], bytes]

# the checksum covers the bytes after it: not the partition leader epoch and the magic
_FRONT: Final = struct.Struct(">qiibI")
_CHECKED: Final = struct.Struct(">hiqqqhii")
_LARGEST: Final = 2**31 - 1 - OVERHEAD  # bytes of records; a whole batch must fit in an int32
_timestamp: Final = itemgetter(Record._fields.index("timestamp"))


class HeaderFields(TypedDict, total=False):
    """Optional fields of a batch's header. The others follow from the records."""

    base_offset: int | None
    last_offset: int | None
    base_timestamp: int | None
    max_timestamp: int | None
    timestamp_type: TimestampType
    partition_leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    is_transactional: bool
    is_control: bool
    delete_horizon: int | None


@dataclass(slots=True)
class _Header:
    """The header of a batch to build; None follows from the records."""

    base_offset: int | None = None
    last_offset: int | None = None
    base_timestamp: int | None = None
    max_timestamp: int | None = None
    timestamp_type: TimestampType = "CreateTime"
    partition_leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False
    delete_horizon: int | None = None

    def attributes(self, compression: str) -> int:
        """Return the attributes of a batch of any magic."""
        return (
            CODECS.index(compression)
            | message_set.LOG_APPEND_TIME * (self.timestamp_type == "LogAppendTime")
            | TRANSACTIONAL * bool(self.is_transactional)
            | CONTROL * bool(self.is_control)
            | DELETE_HORIZON * (self.delete_horizon is not None)
        )


_OF_MAGIC_2: Final = (
    "base_timestamp",
    "partition_leader_epoch",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "is_transactional",
    "is_control",
    "delete_horizon",
)
"""Fields that messages of magic 0 and 1 lack."""


def build(
    records: Iterable[Record],
    *,
    magic: int = 2,
    compression: str = "none",
    compressor: Compressor | None = None,
    **header: Unpack[HeaderFields],
) -> bytes:
    """Build a batch; in magic 0 and 1, a message for each record or, if compressed, one wrapper.

    Header fields that are not passed follow from the records: the first and last offset, the first and the
    latest timestamp (both in ms). An empty batch, which compaction leaves, needs its offsets.
    `delete_horizon` replaces the base timestamp (KIP-534). With LogAppendTime all records have the timestamp
    `max_timestamp`. `compressor` replaces the Java client's compression, as in `compression="snappy",
    compressor=raw_snappy`.

    Raises:
        Unfit: A value could not be read back. Magic 0 and 1 have no headers and no field after
            `timestamp_type`, magic 0 no timestamps.
            The path is the argument, or e.g. `records[3].key`.

    >>> from barnabas.specs.records import read
    >>> data = build([Record(7, 1000, None, b"a"), Record(9, 1005, b"k", None)], compression="gzip")
    >>> [(batch.last_offset, batch.crc_ok, batch.records()[1].key) for batch in read(data)]
    [(9, True, b'k')]
    """
    all_records = records if isinstance(records, list | tuple) else tuple(records)
    if magic not in (0, 1, 2):
        raise Unfit("magic", f"0, 1 or 2, not {magic!r}")
    if compression not in CODECS:
        raise Unfit("compression", f"{compression!r} is not one of {', '.join(CODECS)}")
    fields = _Header(**header)
    if fields.timestamp_type == ("LogAppendTime" if magic == 0 else "NoTimestampType"):
        raise Unfit("timestamp_type", f"magic {magic} has no {fields.timestamp_type}")
    if magic < 2:
        for name in _OF_MAGIC_2:
            if getattr(fields, name) != getattr(_NOTHING_GIVEN, name):
                raise Unfit(name, f"magic {magic} has none")
        return _messages(all_records, magic, fields, fields.attributes(compression), compressor)
    if fields.delete_horizon is not None:
        if fields.base_timestamp not in (None, fields.delete_horizon):
            raise Unfit("base_timestamp", f"the delete horizon is there, {fields.delete_horizon}")
        fields = replace(fields, base_timestamp=fields.delete_horizon)
    return _batch(all_records, fields, fields.attributes(compression), compressor)


_NOTHING_GIVEN: Final = _Header()


def rebuild(batch: Batch, records: Sequence[Record] | None = None) -> bytes:
    """Build a batch that was read again: the values of its header, with its records or with others.

    Checksum, size and count are computed; in magic 0 and 1, so are all values that follow from the records.
    LogAppendTime hides the original timestamps: they become the visible one.

    Raises:
        Unfit: A value can't be written.
        Malformed: The batch's records can't be read.

    >>> from dataclasses import replace
    >>> from barnabas.specs.records import read
    >>> data = build([Record(7, 1000, None, b"a")], producer_id=5, is_transactional=True)
    >>> [rebuild(batch) == data for batch in read(data)]
    [True]
    >>> (other,) = read(b"".join(rebuild(replace(batch, producer_id=6)) for batch in read(data)))
    >>> other.producer_id, other.crc_ok
    (6, True)
    """
    batch_records = batch.records() if records is None else records
    if batch.magic == 2:
        header = _Header(
            base_offset=batch.base_offset,
            last_offset=batch.last_offset,
            base_timestamp=batch.base_timestamp,
            max_timestamp=batch.max_timestamp,
            partition_leader_epoch=batch.partition_leader_epoch,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
        )
        return _batch(batch_records, header, batch.attributes)
    attributes = fit_int("attributes", batch.attributes, 8)
    if codec_name(attributes) == "none":
        return write_messages(batch_records, magic=batch.magic, attributes=attributes)
    return write_wrapper(
        batch_records,
        _compressor(attributes, batch.magic),
        magic=batch.magic,
        attributes=attributes,
        last_offset=None if batch.magic == 1 and batch.last_offset != 0 else batch.last_offset,
        max_timestamp=batch.max_timestamp,
    )


def with_crc(batch: bytes) -> bytes:
    """Return the bytes of one batch of any magic with the right checksum.

    Raises:
        Unfit: There are too few bytes for a message.

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
    header: _Header,
    attributes: int,
    compressor: Compressor | None = None,
) -> bytes:
    """Build a batch of magic 2 (Kafka's DefaultRecordBatch.writeHeader)."""
    first = fit_record(records[0], "records[0]") if records else Record(0, -1, None, None)
    base_offset = fit_int("base_offset", _value_or(header.base_offset, first.offset), 64)
    base_timestamp = fit_int(
        "base_timestamp", _value_or(header.base_timestamp, first.timestamp), 64
    )
    payload = write_records(records, base_offset, base_timestamp)
    last_offset = _value_or(header.last_offset, records[-1].offset if records else base_offset)
    last_offset_delta = int64(fit_int("last_offset", last_offset, 64) - base_offset)
    max_timestamp = _value_or(header.max_timestamp, max(map(_timestamp, records), default=-1))
    pack = compressor or _compressor(attributes, 2)
    if records:  # in Kafka an empty batch has no bytes after its header
        payload = pack(payload)
    if len(payload) > _LARGEST:
        raise Unfit("records", f"{len(payload)} bytes; {_LARGEST} are the most")
    checked = _CHECKED.pack(
        fit_int("attributes", attributes, 16),
        fit_int("last_offset", last_offset_delta, 32),
        base_timestamp,
        fit_int("max_timestamp", max_timestamp, 64),
        fit_int("producer_id", header.producer_id, 64),
        fit_int("producer_epoch", header.producer_epoch, 16),
        fit_int("base_sequence", header.base_sequence, 32),
        len(records),
    )
    epoch = fit_int("partition_leader_epoch", header.partition_leader_epoch, 32)
    size = OVERHEAD - 12 + len(payload)
    crc = crc32c.crc32c(payload, crc32c.crc32c(checked))
    return b"".join((_FRONT.pack(base_offset, size, epoch, 2, crc), checked, payload))


def _messages(
    records: Sequence[Record],
    magic: int,
    header: _Header,
    attributes: int,
    compressor: Compressor | None,
) -> bytes:
    """Build messages or a wrapper; a field that they lack must equal the value that is read anyway."""
    last_offset, max_timestamp = header.last_offset, header.max_timestamp
    if codec_name(attributes) == "none":
        append_time = max_timestamp if attributes & message_set.LOG_APPEND_TIME else None
        data = write_messages(records, magic=magic, attributes=attributes, append_time=append_time)
        _check_equal("last_offset", last_offset, records[-1].offset if records else None)
        if append_time is None:
            _check_equal(
                "max_timestamp", max_timestamp, max(map(_timestamp, records), default=None)
            )
    else:
        data = write_wrapper(
            records,
            compressor or _compressor(attributes, magic),
            magic=magic,
            attributes=attributes,
            last_offset=last_offset,
            max_timestamp=max_timestamp,
        )
        if magic == 0:
            _check_equal("max_timestamp", max_timestamp, -1)
    _check_equal("base_offset", header.base_offset, records[0].offset if records else None)
    return data


def _compressor(attributes: int, magic: int) -> Compressor:
    codec = codec_name(attributes)
    if codec not in CODECS or (codec == "zstd" and magic < 2):
        raise Unfit("compression", f"magic {magic} has no codec {codec}")
    return functools.partial(compress, codec, magic=magic)


def _value_or(value: int | None, default: int) -> int:
    return default if value is None else value


def _check_equal(name: str, value: int | None, read: int | None) -> None:
    if value not in (None, read):
        raise Unfit(name, f"it would be read as {read}, not {value}")
