"""Find flaws in record batches, by the rules of brokers and consumers.

A producer's batches must pass LogValidator and ProduceRequest.validateRecords, a broker's batches
DefaultRecordBatch, LegacyRecord and AbstractLegacyRecordBatch. Of each record set, headers and checksums of
up to BATCHES batches are verified, and up to RECORDS records are read: a Fetch of 1 MiB takes about 3 ms. So
that a few bytes can't cost minutes, records are only read from up to PACKED compressed batches of a message,
and from batches that hold up to OUTPUT bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from barnabas.captures.checks.partitions import Partition, answered_partitions, partitions
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten
from barnabas.specs.frames import Direction
from barnabas.specs.keys import FETCH, PRODUCE, SHARE_FETCH
from barnabas.specs.malformed import Malformed, TooLarge
from barnabas.specs.records import Batch, control_type, read
from barnabas.specs.records.compression import CODECS

RECORDS: Final = 1000
"""Records of a set that are read: a faulty encoder fails in the first ones as well."""

BATCHES: Final = 1000
"""Batches of a set that are verified; a megabyte usually has about 60."""

PACKED: Final = 100
"""Compressed batches of a message whose records are read."""

OUTPUT: Final = 2 << 20
"""Bytes that such a batch may hold; brokers accept batches of up to 1 MiB by default (message.max.bytes)."""

MOST: Final = 100
"""Partitions of a message whose flaws are reported, since a message may have any number."""

REFUSALS: Final = {2: "CORRUPT_MESSAGE", 32: "INVALID_TIMESTAMP", 87: "INVALID_RECORD"}
"""Errors by which a broker rejects records as invalid."""

WORDS: Final = 200
"""Characters of a broker's message, or of a reason."""

ZSTD_SINCE: Final = {PRODUCE: 7, FETCH: 10}
"""The first version of an API whose messages may have zstd (KIP-110)."""


class Flaw(NamedTuple):
    """The flaw of the first bad batch of a partition in a message."""

    topic: str
    partition: int
    what: str | None = None
    """A description; None: no visible flaw, but the broker rejects the records."""
    offset: int | None = None
    """The base offset of the batch, of a compressed message the last offset; None: unreadable header."""
    crc: int | None = None
    """The checksum in its header."""
    producer_id: int | None = None
    """Its producer id; None if it is not idempotent."""
    error: str | None = None
    """The broker's error: a name of REFUSALS, with its message if there is one."""


def flaws(exchange: Exchange, context: Context) -> tuple[Flaw, ...] | None:
    """Return the first flaw of each partition in a Produce, Fetch or ShareFetch; None without any."""
    if exchange.key == PRODUCE:
        flawed = _all(exchange, answered_partitions(exchange, context), "request")
    elif exchange.key in (FETCH, SHARE_FETCH):
        flawed = _all(exchange, partitions(exchange, "response", context), "response")
    else:
        return None
    return tuple(islice(flawed, MOST)) or None


def _all(
    exchange: Exchange, named_partitions: Iterator[Partition], direction: Direction
) -> Iterator[Flaw]:
    sent = direction == "request"
    masked = bool(exchange.payload.get(direction))  # hashes replace the records
    packed = iter(range(PACKED))
    for partition in named_partitions:
        answer = (partition.response_fields or {}) if sent else partition.fields
        error = _refusal(answer)
        data = partition.fields.get("records") or b""
        first = None
        if data or sent:
            first = _first(data, exchange.key, exchange.version, masked, packed)
        if first is not None or error is not None:
            batch, description = first or (None, None)
            yield Flaw(partition.name, partition.number, description, *_identity(batch), error)


def _refusal(answer: dict[str, Any]) -> str | None:
    error = REFUSALS.get(answer.get("error_code", 0))
    if error is None:
        return None
    message = answer.get("error_message")
    return f"{error}: {shorten(message, WORDS)}" if message else error


def _identity(batch: Batch | None) -> tuple[int | None, int | None, int | None]:
    if batch is None:
        return None, None, None
    producer = batch.producer_id if batch.producer_id >= 0 else None
    return (
        batch.last_offset if batch.base_offset is None else batch.base_offset,
        batch.crc,
        producer,
    )


def _first(
    data: bytes, key: int, version: int, masked: bool, packed: Iterator[int]
) -> tuple[Batch | None, str] | None:
    """Return the first batch that has a flaw, and the flaw; None if all batches are sound.

    `packed` is exhausted when no more compressed batches may be read.
    """
    sent = key == PRODUCE
    alone = sent and version >= 3
    room = 0 if masked else RECORDS
    batch = None
    try:
        for number, batch in enumerate(islice(read(data, max_output=OUTPUT), BATCHES)):
            flaw = "more than one batch" if alone and number else _of_header(batch, key, version)
            if not flaw and room > 0 and _may_read(batch, packed):
                flaw, count = _of_records(batch, sent, room)
                room -= count
            if flaw:
                return batch, flaw
    except Malformed as problem:
        return None, f"{problem.path}: {problem.reason}"
    if alone and (batch is None or batch.size < len(data)):
        rest = len(data) - (batch.size if batch else 0)
        return batch, f"{rest} bytes after the batch" if batch else "no whole batch"
    return None


def _may_read(batch: Batch, packed: Iterator[int]) -> bool:
    return batch.compression == "none" or next(packed, None) is not None


def _of_header(batch: Batch, key: int, version: int) -> str:
    sent = key == PRODUCE
    if not _magic_fits(batch.magic, key, version):
        return f"magic {batch.magic} in version {version}"
    crc = batch.computed_crc
    if crc != batch.crc:
        return f"the checksum is {batch.crc:#010x}, and should be {crc:#010x}"
    if batch.compression not in CODECS:
        return f"codec {batch.attributes & 7}, which Kafka does not have"
    if batch.compression == "zstd" and batch.magic < 2:
        return f"zstd in magic {batch.magic}: it came with magic 2"
    if batch.compression == "zstd" and version < ZSTD_SINCE.get(key, 0):
        return f"zstd in version {version}: it came with version {ZSTD_SINCE[key]}"
    return _of_magic_2(batch, sent) if batch.magic > 1 else ""


def _magic_fits(magic: int, key: int, version: int) -> bool:
    """Return whether a version of an API may carry batches of a magic."""
    if key == SHARE_FETCH:
        return magic == 2
    if key == PRODUCE:
        return magic == 2 if version >= 3 else magic < 2
    return magic <= (0 if version < 2 else 1 if version < 4 else 2)


def _of_magic_2(batch: Batch, sent: bool) -> str:
    count = batch.count or 0
    span = batch.last_offset - (batch.base_offset or 0) + 1
    # compaction leaves batches with fewer records than offsets, or without records
    if count < 0 or span < 1 or count > span or (sent and count != span):
        return f"{count} records announced, and a last offset delta of {span - 1}"
    if not sent:
        return ""
    if batch.is_control:
        return "control records, which only brokers write"
    if batch.producer_id >= 0 > batch.base_sequence:
        return "a producer id without a sequence number"
    if batch.timestamp_type == "LogAppendTime":
        return "timestamps of the type LogAppendTime, which only brokers set"
    return ""


def _of_records(batch: Batch, sent: bool, room: int) -> tuple[str, int]:
    """Return the flaw of the records, and how many were read."""
    number, last = 0, -1
    try:
        for number, record in enumerate(islice(batch, room), 1):
            if batch.magic < 2:
                continue
            delta = record.offset - (batch.base_offset or 0)
            if delta <= last or record.offset > batch.last_offset or (sent and delta != number - 1):
                return f"record {number} has an offset delta of {delta}", number
            if batch.is_control:
                control_type(record)
            last = delta
    except TooLarge:
        return "", number
    except Malformed as problem:
        path = problem.path.partition(".")[2] or problem.path
        return f"{path}: {shorten(problem.reason, WORDS)}", number
    return "", number
