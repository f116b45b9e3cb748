"""The records of a record set that are Kafka's own: records of internal topics, and control records."""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

from barnabas.specs import records
from barnabas.specs.embedded.control_records import read_control_record
from barnabas.specs.embedded.embedded_message import EmbeddedMessage
from barnabas.specs.embedded.topics import TOPICS, read_topic_key, read_topic_value
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, Record

MAX_BYTES: Final = 1 << 20
"""Bytes of records that are read: the decoded values take up to a hundred times as much."""

MAX_OUTPUT: Final = 16 << 20
"""Decompressed bytes of a batch, at most: twice the largest batch of the metadata log (KafkaRaftClient)."""


class InternalRecord(NamedTuple):
    """A record that was read; a Malformed replaces an unreadable part."""

    offset: int
    control: str | None
    """The type of a control record."""
    key: EmbeddedMessage | Malformed | None
    value: EmbeddedMessage | Malformed | None


class InternalRecords(NamedTuple):
    """The records that were read, and the error that ended reading.

    `left_off` is the number of remaining records, or None if it is unknown.
    """

    records: list[InternalRecord]
    left_off: int | None
    error: Malformed | None


def read_internal_records(
    data: bytes, topic: str | None, *, limit: int, release: str | None = None, begins: bool = True
) -> InternalRecords:
    """Read at most `limit` records that are Kafka's own, and no more than MAX_BYTES of them.

    `topic` is the topic's name, or None if unknown. `begins` is False for data that may begin inside a batch:
    then it is read only if the first checksum is right. The number of remaining records comes from the
    headers of batches.

    >>> read_internal_records(b"", "__consumer_offsets", limit=10)
    InternalRecords(records=[], left_off=0, error=None)
    """
    if begins and topic not in TOPICS and records.is_lone_batch(data):
        return _NOTHING
    internal: list[InternalRecord] = []
    left_off: int | None = 0
    size = 0
    try:
        if not (begins or _begins(data)):
            raise Malformed("batches[0]", 0, "no batch begins here")
        for batch in records.read(data, max_output=MAX_OUTPUT, control_only=topic not in TOPICS):
            before = len(internal)
            for record in islice(batch, max(limit - before, 0)):
                size += len(record.key or b"") + len(record.value or b"")
                if size > MAX_BYTES:
                    limit = 0
                    break
                internal.append(_read(record, batch, topic, release))
            count = _count(batch)
            if left_off is not None:
                left_off = None if count is None else left_off + count - (len(internal) - before)
    except Malformed as e:
        # its traceback would keep the bytes in memory until the next garbage collection
        return InternalRecords(internal, left_off, e.with_traceback(None))
    return InternalRecords(internal, left_off, None)


_NOTHING: Final = InternalRecords([], 0, None)


def _begins(data: bytes) -> bool:
    batch = next(records.read(data), None)
    return batch is not None and batch.crc_ok


def _read(record: Record, batch: Batch, topic: str | None, release: str | None) -> InternalRecord:
    if batch.is_control:
        try:
            kind, value = read_control_record(record.key, record.value, release=release)
        except Malformed as e:
            return InternalRecord(record.offset, "UNKNOWN", None, e)
        return InternalRecord(record.offset, kind, None, value)
    assert topic is not None  # noqa: S101 - one of TOPICS
    try:
        key = read_topic_key(topic, record.key)
    except Malformed as e:
        return InternalRecord(record.offset, None, e, None)
    try:
        return InternalRecord(record.offset, None, key, read_topic_value(topic, key, record.value))
    except Malformed as e:
        return InternalRecord(record.offset, None, key, e)


def _count(batch: Batch) -> int | None:
    """Return the number of records in a batch's header; a compressed one of magic 0 or 1 has no number."""
    if batch.count is not None:
        return max(batch.count, 0)
    return 1 if batch.compression == "none" else None
