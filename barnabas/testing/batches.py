"""The record batches of a Produce request, and what the broker said of each."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from barnabas.testing.exchange import Exchange

PRODUCE: Final = 0

_MAGIC_AT: Final = 16
_PRODUCER: Final = struct.Struct(">qhi")
_PRODUCER_AT: Final = 43
"""Producer id, epoch and base sequence in a batch of magic 2
(https://kafka.apache.org/documentation/#recordbatch)."""

NO_PRODUCER: Final = (-1, -1, -1)
"""What stands there if the producer is not idempotent."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a Produce request brings for one partition, and the answer."""

    topic: str
    """Its name; its id if the request has that alone (v13), and no Metadata has passed that names it."""
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: str
    """The bytes, in base64."""
    error_code: int | None
    """None: there is no answer for it."""
    base_offset: int | None

    @property
    def idempotent(self) -> bool:
        """Whether it has a sequence number."""
        return self.producer_id >= 0 and self.base_sequence >= 0


class Unreadable(RuntimeError):
    """What has to be known of a request was not logged."""


def batches(exchange: Exchange) -> Iterator[Batch]:
    """The batches of a Produce exchange. Raises Unreadable if its request is not in the log."""
    if exchange.request is None:
        raise Unreadable(
            f"the body of this request is not in the log (it can't be decoded, or is larger than "
            f"4 MiB), so nothing can be said of its batches: {exchange}"
        )
    names = (exchange.beside.get("context") or {}).get("topics") or {}
    answers = dict(_answers(exchange.response or {}))
    for topic in exchange.request["topic_data"]:
        for found in topic["partition_data"]:
            name, partition = _name(topic), found["index"]
            answer = answers.get((name, partition), {})
            records = found["records"] or ""
            yield Batch(
                names.get(name) or name,
                partition,
                *_producer(records),
                records,
                answer.get("error_code"),
                answer.get("base_offset"),
            )


def _answers(response: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], Mapping[str, Any]]]:
    for topic in response.get("responses", ()):
        for found in topic["partition_responses"]:
            yield (_name(topic), found["index"]), found


def _name(topic: Mapping[str, Any]) -> str:
    return str(topic.get("name") or topic.get("topic_id"))


def _producer(records: str) -> tuple[int, int, int]:
    """Producer id, epoch and base sequence.

    >>> _producer("")
    (-1, -1, -1)
    """
    head = base64.b64decode(records[:80])  # 60 bytes
    if len(head) < _PRODUCER_AT + _PRODUCER.size or head[_MAGIC_AT] < 2:
        return NO_PRODUCER
    producer_id, epoch, sequence = _PRODUCER.unpack_from(head, _PRODUCER_AT)
    return producer_id, epoch, sequence
