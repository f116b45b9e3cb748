"""The records of a record set that are Kafka's own: those of internal topics, and control records."""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

from barnabas.specs import records
from barnabas.specs.embedded.control_records import read_control_record
from barnabas.specs.embedded.read import EmbeddedMessage
from barnabas.specs.embedded.topics import TOPICS, read_topic_key, read_topic_value
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, Record

MAX_BYTES: Final = 1 << 20
"""Bytes of records that are looked at: what is made of them takes a hundred times as much at worst."""

MAX_OUTPUT: Final = 16 << 20
"""Bytes that one batch may take decompressed: twice the metadata log's largest (KafkaRaftClient)."""


class Looked(NamedTuple):
    """A record that was looked at; a Malformed stands where something could not be read."""

    offset: int
    control: str | None
    """The type of a control record."""
    key: EmbeddedMessage | Malformed | None
    value: EmbeddedMessage | Malformed | None


class Records(NamedTuple):
    """What was looked at, how many records were left off (None: not known), and what stopped it."""

    looked: list[Looked]
    left_off: int | None
    error: Malformed | None


def look(
    data: bytes, topic: str | None, *, limit: int, release: str | None = None, begins: bool = True
) -> Records:
    """At most `limit` records that are Kafka's own, of the topic of this name or of an unknown one, and
    no more of them than MAX_BYTES.

    `begins` is False for what may begin inside a batch: then nothing is believed unless the first
    checksum is right. The number left off is what the headers of batches announce.

    >>> look(b"", "__consumer_offsets", limit=10)
    Records(looked=[], left_off=0, error=None)
    """
    if begins and topic not in TOPICS and records.is_lone_batch(data):
        return _NOTHING
    looked: list[Looked] = []
    left_off: int | None = 0
    size = 0
    try:
        if not (begins or _begins(data)):
            raise Malformed("batches[0]", 0, "no batch begins here")
        for batch in records.read(data, max_output=MAX_OUTPUT, control_only=topic not in TOPICS):
            before = len(looked)
            for record in islice(batch, max(limit - before, 0)):
                size += len(record.key or b"") + len(record.value or b"")
                if size > MAX_BYTES:
                    limit = 0
                    break
                looked.append(_look(record, batch, topic, release))
            count = _count(batch)
            if left_off is not None:
                left_off = None if count is None else left_off + count - (len(looked) - before)
    except Malformed as e:
        # with its frames, and with those of who called, the bytes would stay until the next collection
        return Records(looked, left_off, e.with_traceback(None))
    return Records(looked, left_off, None)


_NOTHING: Final = Records([], 0, None)


def _begins(data: bytes) -> bool:
    batch = next(records.read(data), None)
    return batch is not None and batch.crc_ok


def _look(record: Record, batch: Batch, topic: str | None, release: str | None) -> Looked:
    if batch.is_control:
        try:
            kind, value = read_control_record(record.key, record.value, release=release)
        except Malformed as e:
            return Looked(record.offset, "UNKNOWN", None, e)
        return Looked(record.offset, kind, None, value)
    assert topic is not None  # noqa: S101 - one of TOPICS
    try:
        key = read_topic_key(topic, record.key)
    except Malformed as e:
        return Looked(record.offset, None, e, None)
    try:
        return Looked(record.offset, None, key, read_topic_value(topic, key, record.value))
    except Malformed as e:
        return Looked(record.offset, None, key, e)


def _count(batch: Batch) -> int | None:
    """The records that a batch's header announces; a compressed one of magic 0 or 1 does not."""
    if batch.count is not None:
        return max(batch.count, 0)
    return 1 if batch.compression == "none" else None
