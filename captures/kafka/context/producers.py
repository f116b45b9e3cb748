"""Learn the transactional id of a producer id, where no structure has both.

InitProducerId has one in the request and the other in the response. So does EndTxn from v5, which starts a
new epoch or producer id (KIP-890). Produce has the transactional id; the producer id is in its record
batches.
"""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import END_TXN, INIT_PRODUCER_ID, PRODUCE

KEYS: Final = (PRODUCE, INIT_PRODUCER_ID, END_TXN)
"""The APIs that reveal it."""

_MAGIC: Final = 16
_PRODUCER_ID: Final = slice(43, 51)
"""Offsets in a record batch of magic 2 (DefaultRecordBatch)."""


def learn_producer(producers: Memory[int, str], exchange: Exchange) -> None:
    """Learn from an exchange of KEYS."""
    request = fields(exchange, "request", "transactional_id")
    name = (request or {}).get("transactional_id")
    if not name:
        return
    producer = -1
    if exchange.key == PRODUCE:
        producer = _first_producer(exchange)
    else:
        response = fields(exchange, "response", "producer_id") or {}
        producer = response.get("producer_id", -1)
    if producer >= 0:
        producers[producer] = name


def _first_producer(exchange: Exchange) -> int:
    """Return the producer id of a request's first batch; -1 without one."""
    body = fields(exchange, "request", "topic_data.partition_data.records") or {}
    for topic in body.get("topic_data", ()):
        for partition in topic["partition_data"]:
            records = partition["records"] or b""
            if len(records) >= _PRODUCER_ID.stop and records[_MAGIC] == 2:
                return int.from_bytes(records[_PRODUCER_ID], signed=True)
    return -1
