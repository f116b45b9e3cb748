"""The recorded record batches by partition, and Fetch responses made from them.

A Fetch gets the recorded batches from its offset on, not the recorded response: which partitions a client
fetches together is a matter of timing. There are no fetch sessions (session id 0), so that each request names
all its partitions (KIP-227). Recorded errors of Fetch are ignored.
"""

from __future__ import annotations

import bisect
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs import records
from barnabas.specs.keys import FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

UNKNOWN_TOPIC_OR_PARTITION: Final = 3
READ_COMMITTED: Final = 1


class _Batch(NamedTuple):
    last_offset: int
    data: bytes


@dataclass(slots=True)
class _Partition:
    """Batches of a partition by their last offset, as the brokers sent them."""

    batches: list[_Batch] = field(default_factory=list)
    aborted: set[tuple[int, int]] = field(default_factory=set)
    """(first offset, producer id)."""
    high_watermark: int = 0
    last_stable_offset: int = 0
    log_start_offset: int = -1

    def note(self, entry: Mapping[str, Any]) -> None:
        """Add the batches and offsets of a partition of a recorded response."""
        self.high_watermark = max(self.high_watermark, entry["high_watermark"])
        self.last_stable_offset = max(self.last_stable_offset, entry.get("last_stable_offset", -1))
        self.log_start_offset = max(self.log_start_offset, entry.get("log_start_offset", -1))
        for transaction in entry.get("aborted_transactions") or ():
            self.aborted.add((transaction["first_offset"], transaction["producer_id"]))
        data = entry["records"] or b""
        for batch in records.read(data):
            whole = data[batch.position : batch.position + batch.size]
            index = bisect.bisect_left(self.batches, batch.last_offset, key=_last_offset)
            if index == len(self.batches) or self.batches[index].last_offset != batch.last_offset:
                self.batches.insert(index, _Batch(batch.last_offset, whole))

    def read(self, offset: int, limit: int) -> bytes:
        """Return batches from the one with `offset` on: at least one, then up to `limit` bytes."""
        batches = b""
        for batch in self.batches[bisect.bisect_left(self.batches, offset, key=_last_offset) :]:
            if batches and len(batches) + len(batch.data) > limit:
                break
            batches += batch.data
        return batches


def _last_offset(batch: _Batch) -> int:
    return batch.last_offset


class RecordedLog:
    """All partitions that were fetched in a recording; topics by name, or by id from v13 on."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._partitions: dict[tuple[str | uuid.UUID, int], _Partition] = {}
        for exchange in exchanges:
            if exchange.key == FETCH and exchange.response is not None:
                self._learn(exchange.response)

    def _learn(self, response: Mapping[str, Any]) -> None:
        for topic in response["responses"]:
            for entry in topic["partitions"]:
                if entry["error_code"] == 0:
                    partition = _topic(topic), entry["partition_index"]
                    try:
                        self._partitions.setdefault(partition, _Partition()).note(entry)
                    except Malformed:
                        continue  # earlier batches stay

    def answer(self, version: int, body: bytes) -> tuple[bytes, int] | None:
        """Return the body of a Fetch response, and the milliseconds to wait before it.

        The wait is the request's `max_wait_ms` if the response has no records. None: the request can't be
        decoded, or none of its partitions was recorded.
        """
        try:
            request = api(FETCH).request.codec(version).decode(body)
        except (LookupError, Malformed):
            return None
        known = False
        max_bytes = request.get("max_bytes", 2**31 - 1)
        size = 0
        responses = []
        for topic in request["topics"]:
            entries = []
            for requested in topic["partitions"]:
                partition = self._partitions.get((_topic(topic), requested["partition"]))
                known |= partition is not None
                entry = _entry(
                    partition, requested, max_bytes - size, request.get("isolation_level", 0)
                )
                size += len(entry["records"])
                entries.append(entry)
            name = {key: topic[key] for key in ("topic", "topic_id") if key in topic}
            responses.append({**name, "partitions": entries})
        if not known and request["topics"]:
            return None
        values = {"session_id": 0, "responses": responses}
        encoded = api(FETCH).response.codec(version).encode(values)
        return encoded, 0 if size else request["max_wait_ms"]


def _topic(topic: Mapping[str, Any]) -> str | uuid.UUID:
    name: str | uuid.UUID = topic["topic"] if "topic" in topic else topic["topic_id"]
    return name


def _entry(
    partition: _Partition | None, requested: Mapping[str, Any], remaining_bytes: int, isolation: int
) -> dict[str, Any]:
    if partition is None:
        return {
            "partition_index": requested["partition"],
            "error_code": UNKNOWN_TOPIC_OR_PARTITION,
            "high_watermark": -1,
            "records": b"",
        }
    offset = requested["fetch_offset"]
    limit = min(remaining_bytes, requested["partition_max_bytes"])
    aborted = [
        {"producer_id": producer, "first_offset": first}
        for first, producer in sorted(partition.aborted)
    ]
    return {
        "partition_index": requested["partition"],
        "error_code": 0,
        "high_watermark": partition.high_watermark,
        "last_stable_offset": partition.last_stable_offset,
        "log_start_offset": partition.log_start_offset,
        "aborted_transactions": aborted if isolation == READ_COMMITTED else None,
        "records": partition.read(offset, limit) if remaining_bytes > 0 else b"",
    }
