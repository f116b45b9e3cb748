"""The first batch of each partition in a Produce, with the broker's answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from barnabas.captures.checks.partitions import answered_partitions
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, read


class Sent(NamedTuple):
    """What a Produce sends to one partition."""

    topic: Any
    """As `Partition` has it."""
    place: str
    """Topic and partition in words: orders[3]."""
    partition: int
    batch: Batch
    """The first one; from v3 on there is no other (KIP-98)."""
    checksum: int
    """Of what stays the same when the records are sent again."""
    error: int | None
    """What the broker said of it; None: nothing."""
    base_offset: int
    """Where the broker has put it; -1: not known."""


def first_batch(records: bytes) -> tuple[Batch, int] | None:
    """The first batch, and the checksum of what stays the same when all are sent again; None: there is none
    that can be read."""
    try:
        batch = next(read(records), None)
    except Malformed:
        return None
    if batch is None:
        return None
    return batch, batch.crc if batch.magic == 2 else zlib.crc32(records)


def sent(exchange: Exchange, context: Context) -> Iterator[Sent]:
    """What a Produce sends; nothing of what can't be read."""
    if exchange.key != PRODUCE:
        return
    for one in answered_partitions(exchange, context):
        found = first_batch(one.said["records"] or b"")
        if found is None:
            continue
        batch, checksum = found
        answer = one.answer or {}
        error, base_offset = answer.get("error_code"), answer.get("base_offset", -1)
        yield Sent(one.topic, one.place, one.number, batch, checksum, error, base_offset)
