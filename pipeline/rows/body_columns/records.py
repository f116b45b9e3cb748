"""Columns of Produce, Fetch and ShareFetch: partitions, records, bytes, producers.

Counts and offsets come from the headers of record batches; no record is decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from barnabas.pipeline.rows.body_columns.topics import (
    Body,
    Names,
    name_of,
    partition_row,
    partitions_of_response,
    topic_key,
)
from barnabas.specs.malformed import Malformed
from barnabas.specs.records.batch import read_batch
from barnabas.specs.records.compression import codec_name
from barnabas.specs.records.record import int64
from barnabas.specs.records.record_set import batch_spans

_HEADER: Final = struct.Struct(">q9xIhi16xqhii").unpack_from
"""The header of a magic 2 batch: a `Batch` has more fields, and is slower to make."""


class BatchHeader(NamedTuple):
    """The header of a batch; a field that an older magic lacks is -1."""

    magic: int
    crc: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    announced: int


class RecordSetFigures(NamedTuple):
    """Figures of a record set, as far as it can be read."""

    first: BatchHeader | None
    records: int | None
    """None: it contains a compressed message of magic 0 or 1, which has no count."""
    last_offset: int | None
    """The last offset of the last whole batch."""
    base_sequence: int | None
    """The lowest one; None without an idempotent producer."""


def figures_of(data: bytes) -> RecordSetFigures:
    """Return a record set's figures, from its headers; never raises.

    Batches of control records (transaction markers) count like others.

    >>> figures_of(b"").records
    0
    """
    first = None
    last: int | None = None
    count: int | None = 0
    sequence: int | None = None
    try:
        for position, size, magic in batch_spans(data):
            if magic == 2:
                header = _header(data, position)
                records, uncounted = max(header.announced, 0), False
            else:
                batch = read_batch(memoryview(data)[position : position + size])
                header = BatchHeader(magic, batch.crc, batch.last_offset, -1, -1, -1, 1)
                records, uncounted = 1, batch.compression != "none"
            first = first or header
            last = header.last_offset
            count = None if uncounted or count is None else count + records
            batch_sequence = header.base_sequence
            if header.producer_id >= 0 and batch_sequence >= 0:
                sequence = batch_sequence if sequence is None else min(sequence, batch_sequence)
    except Malformed:
        pass  # the batches before it were read
    return RecordSetFigures(first, count, last, sequence)


def _header(data: bytes, at: int) -> BatchHeader:
    """Read a batch's header. Raises Malformed."""
    offset, crc, attributes, delta, producer_id, epoch, sequence, count = _HEADER(data, at)
    codec_name(attributes)
    return BatchHeader(2, crc, int64(offset + delta), producer_id, epoch, sequence, count)


def produce(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of Produce: the records of each partition, and their offsets in the log.

    The checksum is left to the caller: checks need it, too.
    """
    by_partition = partitions_of_response(response.get("responses"), "partition_responses", "index")
    columns: Body = {"acks": request.get("acks")}
    partitions: list[Body] = []
    sets: list[RecordSetFigures] = []
    topics = set()
    for topic in request.get("topic_data") or ():
        key = topic_key(topic)
        name = name_of(key, names)
        topics.add(name)
        for partition in topic["partition_data"]:
            data, index = partition["records"] or b"", partition["index"]
            figures = figures_of(data)
            sets.append(figures)
            responded = by_partition.get((key, index), {})
            offset = responded.get("base_offset", -1)
            partitions.append(
                partition_row(
                    name,
                    index,
                    error_code=responded.get("error_code"),
                    offset=offset if offset >= 0 else None,
                    last_offset=int64(offset + figures.records - 1)
                    if offset >= 0 and figures.records
                    else None,
                    records=figures.records,
                    bytes=len(data),
                    **_producer(figures),
                )
            )
    columns["partitions"], columns["topics"] = partitions, topics
    columns["records"] = _total(figures.records for figures in sets)
    first = next(
        (
            figures
            for figures in sets
            if figures.first is not None and figures.first.producer_id >= 0
        ),
        None,
    )
    if first is not None:
        columns |= _producer(first)
        sequences = [figures.base_sequence for figures in sets if figures.base_sequence is not None]
        columns["base_sequence"] = min(sequences, default=None)
    return columns


def _producer(figures: RecordSetFigures) -> Body:
    first = figures.first
    if first is None or first.producer_id < 0:
        return {}
    return {
        "producer_id": first.producer_id,
        "producer_epoch": first.producer_epoch,
        "base_sequence": first.base_sequence if first.base_sequence >= 0 else None,
    }


def fetch(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of Fetch and ShareFetch: requested offsets and received records by partition.

    The request's partitions come first, then those of the session that the request does not list.
    """
    index = "partition_index" if "share_session_epoch" in request else "partition"
    by_partition = partitions_of_response(
        response.get("responses"), "partitions", "partition_index"
    )
    partitions: list[Body] = []
    topics = set()
    for topic in request.get("topics") or ():
        key = topic_key(topic)
        name = name_of(key, names)
        topics.add(name)
        for partition in topic["partitions"]:
            responded = by_partition.pop((key, partition[index]), None)
            fetch_offset = partition.get("fetch_offset")
            partitions.append(_fetched(name, partition[index], fetch_offset, responded))
    for (key, number), responded in by_partition.items():
        name = name_of(key, names)
        topics.add(name)
        partitions.append(_fetched(name, number, None, responded))
    for topic in request.get("forgotten_topics_data") or ():
        topics.add(name_of(topic_key(topic), names))
    columns: Body = {"partitions": partitions, "topics": topics, "member": request.get("member_id")}
    if "responses" in response:
        columns["records"] = _total(
            row["records"] for row in partitions if row["bytes"] is not None
        )
    return columns


def _fetched(topic: str, partition: int, offset: int | None, responded: Body | None) -> Body:
    if responded is None:
        return partition_row(topic, partition, offset=offset)
    data = responded["records"] or b""
    figures = figures_of(data)
    return partition_row(
        topic,
        partition,
        error_code=responded["error_code"],
        offset=offset,
        last_offset=figures.last_offset,
        high_watermark=responded.get("high_watermark"),
        records=figures.records,
        bytes=len(data),
    )


def _total(counts: Iterable[Any]) -> int | None:
    """Return the sum of counts, or None if one is unknown."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
