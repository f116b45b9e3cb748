"""The batches of a Produce, each with what the broker answered to it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import topic_name
from barnabas.specs.keys import PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, read


class Sent(NamedTuple):
    """A partition's part of a Produce."""

    topic: Any
    """Name or id: equal for the same topic in requests of one version."""
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


def sent(exchange: Exchange, context: Context) -> Iterator[Sent]:
    """What a Produce sends; nothing of what can't be read."""
    request = exchange.request
    if exchange.key != PRODUCE or not request:
        return
    answers = {
        (topic.get("name") or topic.get("topic_id"), partition["index"]): partition
        for topic in (exchange.response or {}).get("responses", ())
        for partition in topic["partition_responses"]
    }
    for topic in request["topic_data"]:
        name = topic.get("name") or topic.get("topic_id")
        for partition in topic["partition_data"]:
            records, index = partition["records"] or b"", partition["index"]
            try:
                batch = next(read(records), None)
            except Malformed:
                continue
            if batch is None:
                continue
            answer = answers.get((name, index), {})
            checksum = batch.crc if batch.magic == 2 else zlib.crc32(records)
            place = f"{topic_name(topic, context.topics)}[{index}]"
            error, base_offset = answer.get("error_code"), answer.get("base_offset", -1)
            yield Sent(name, place, index, batch, checksum, error, base_offset)
