"""Which transactional id a producer id belongs to, where no structure has the two side by side.

InitProducerId asks with one and is answered with the other, and so does EndTxn from v5, which begins
a new epoch or a new producer id (KIP-890). Produce names the transactional id; the producer id stands
in its record batches.
"""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import END_TXN, INIT_PRODUCER_ID, PRODUCE

KEYS: Final = (PRODUCE, INIT_PRODUCER_ID, END_TXN)
"""Who teaches it."""

_MAGIC: Final = 16
_PRODUCER_ID: Final = slice(43, 51)
"""In a record batch of magic 2 (DefaultRecordBatch)."""


def learn_producer(producers: Memory[int, str], exchange: Exchange) -> None:
    """Take what an exchange of KEYS says."""
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
    """The producer id of a request's first batch; -1 if there is none."""
    body = fields(exchange, "request", "topic_data.partition_data.records") or {}
    for topic in body.get("topic_data", ()):
        for partition in topic["partition_data"]:
            records = partition["records"] or b""
            if len(records) >= _PRODUCER_ID.stop and records[_MAGIC] == 2:
                return int.from_bytes(records[_PRODUCER_ID], signed=True)
    return -1
