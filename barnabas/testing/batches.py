"""The record batches of a Produce request, with the broker's response to each."""

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
"""Producer id, epoch and base sequence of a producer that is not idempotent."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The record batches of a Produce request for one partition, and the partition's response."""

    topic: str
    """The topic's name; its id if the request has only that (v13) and no Metadata response has its name."""
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: str
    """The bytes of the batches in base64."""
    error_code: int | None
    """None: there is no response for the partition."""
    base_offset: int | None

    @property
    def idempotent(self) -> bool:
        """Return whether the batch has a sequence number."""
        return self.producer_id >= 0 and self.base_sequence >= 0


class Unreadable(RuntimeError):
    """A request's body is missing in the log."""


def batches(exchange: Exchange) -> Iterator[Batch]:
    """Yield the batches of a Produce exchange. Raises Unreadable if its request is not in the log."""
    if exchange.request is None:
        raise Unreadable(
            f"the body of this request is not in the log (it can't be decoded, or is larger than "
            f"4 MiB), so nothing can be said of its batches: {exchange}"
        )
    names = (exchange.beside.get("context") or {}).get("topics") or {}
    responses = dict(_answers(exchange.response or {}))
    for topic in exchange.request["topic_data"]:
        for partition_data in topic["partition_data"]:
            name, partition = _name(topic), partition_data["index"]
            partition_response = responses.get((name, partition), {})
            records = partition_data["records"] or ""
            yield Batch(
                names.get(name) or name,
                partition,
                *_producer(records),
                records,
                partition_response.get("error_code"),
                partition_response.get("base_offset"),
            )


def _answers(response: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], Mapping[str, Any]]]:
    for topic in response.get("responses", ()):
        for partition_response in topic["partition_responses"]:
            yield (_name(topic), partition_response["index"]), partition_response


def _name(topic: Mapping[str, Any]) -> str:
    return str(topic.get("name") or topic.get("topic_id"))


def _producer(records: str) -> tuple[int, int, int]:
    """Return producer id, epoch and base sequence.

    >>> _producer("")
    (-1, -1, -1)
    """
    head = base64.b64decode(records[:80])  # 60 bytes
    if len(head) < _PRODUCER_AT + _PRODUCER.size or head[_MAGIC_AT] < 2:
        return NO_PRODUCER
    producer_id, epoch, sequence = _PRODUCER.unpack_from(head, _PRODUCER_AT)
    return producer_id, epoch, sequence
