"""What is wrong with record batches, by the rules of brokers and consumers.

A producer's batches are held to LogValidator and ProduceRequest.validateRecords, a broker's to
DefaultRecordBatch, LegacyRecord and AbstractLegacyRecordBatch. Headers and checksums are verified of up to
BATCHES in a set, and up to RECORDS of its records are read: of a Fetch of 1 MiB that takes some 3 ms. So that
a few bytes can't cost minutes, records are read in up to PACKED compressed batches of a message, and in those
that hold up to OUTPUT bytes.
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
"""Records of a set that are read: an encoder that is wrong is wrong in the first ones as well."""

BATCHES: Final = 1000
"""Batches of a set that are looked at: of usual ones a megabyte has some 60."""

PACKED: Final = 100
"""Compressed batches of a message whose records are read."""

OUTPUT: Final = 2 << 20
"""Bytes that such a batch may hold: brokers take batches of up to 1 MiB as they come (message.max.bytes)."""

MOST: Final = 100
"""Partitions of a message whose flaws are told: a message may have any number."""

REFUSALS: Final = {2: "CORRUPT_MESSAGE", 32: "INVALID_TIMESTAMP", 87: "INVALID_RECORD"}
"""Errors by which a broker says that records are not valid."""

WORDS: Final = 200
"""Characters of a broker's own message, or of a reason."""

ZSTD_SINCE: Final = {PRODUCE: 7, FETCH: 10}
"""Versions from which on messages may have zstd (KIP-110)."""


class Flaw(NamedTuple):
    """What is wrong with the first bad batch of a partition in a message."""

    topic: str
    partition: int
    what: str | None = None
    """None: nothing that can be seen, but the broker says that the records are not valid."""
    offset: int | None = None
    """Base offset of the batch, of a compressed message the last one; None: no header can be read."""
    crc: int | None = None
    """Its checksum as announced."""
    producer_id: int | None = None
    """Its producer; None if it is not idempotent."""
    error: str | None = None
    """What the broker says of the records: a name of REFUSALS, with its message if it gives one."""


def flaws(exchange: Exchange, context: Context) -> tuple[Flaw, ...] | None:
    """Return the first flaw of each partition in a Produce, Fetch or ShareFetch; None if there is none."""
    if exchange.key == PRODUCE:
        found = _all(exchange, answered_partitions(exchange, context), "request")
    elif exchange.key in (FETCH, SHARE_FETCH):
        found = _all(exchange, partitions(exchange, "response", context), "response")
    else:
        return None
    return tuple(islice(found, MOST)) or None


def _all(exchange: Exchange, those: Iterator[Partition], direction: Direction) -> Iterator[Flaw]:
    sent = direction == "request"
    masked = bool(exchange.payload.get(direction))  # there hashes stand in place of records
    packed = iter(range(PACKED))
    for one in those:
        answer = (one.answer or {}) if sent else one.said
        error = _refusal(answer)
        data = one.said.get("records") or b""
        found = None
        if data or sent:
            found = _first(data, exchange.key, exchange.version, masked, packed)
        if found is not None or error is not None:
            batch, what = found or (None, None)
            yield Flaw(one.name, one.number, what, *_identity(batch), error)


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
    """Return the first batch that has a flaw, and the flaw; None if all are sound.

    packed: ends when no more compressed batches may be read.
    """
    sent = key == PRODUCE
    alone = sent and version >= 3
    room = 0 if masked else RECORDS
    batch = None
    try:
        for number, batch in enumerate(islice(read(data, max_output=OUTPUT), BATCHES)):
            what = "more than one batch" if alone and number else _of_header(batch, key, version)
            if not what and room > 0 and _may_read(batch, packed):
                what, count = _of_records(batch, sent, room)
                room -= count
            if what:
                return batch, what
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
    # compaction leaves batches with fewer records than offsets, or none
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
    """Return what is wrong with the records, and how many were read."""
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
