"""The records of a recording by partition, and Fetch responses made of them.

A Fetch is not answered as it was then: which partitions a client asks for together is a matter of
timing. It gets the recorded batches from its offset on. Nobody gets a fetch session (session id 0), so
each request says all that it wants (KIP-227). Errors that brokers answered to a Fetch are left out.
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
    """Batches by their last offset, as brokers had sent them."""

    batches: list[_Batch] = field(default_factory=list)
    aborted: set[tuple[int, int]] = field(default_factory=set)
    """(first offset, producer id)."""
    high_watermark: int = 0
    last_stable_offset: int = 0
    log_start_offset: int = -1

    def note(self, entry: Mapping[str, Any]) -> None:
        """A partition of a recorded response."""
        self.high_watermark = max(self.high_watermark, entry["high_watermark"])
        self.last_stable_offset = max(self.last_stable_offset, entry.get("last_stable_offset", -1))
        self.log_start_offset = max(self.log_start_offset, entry.get("log_start_offset", -1))
        for one in entry.get("aborted_transactions") or ():
            self.aborted.add((one["first_offset"], one["producer_id"]))
        data = entry["records"] or b""
        for batch in records.read(data):
            whole = data[batch.position : batch.position + batch.size]
            at = bisect.bisect_left(self.batches, batch.last_offset, key=_last_offset)
            if at == len(self.batches) or self.batches[at].last_offset != batch.last_offset:
                self.batches.insert(at, _Batch(batch.last_offset, whole))

    def read(self, offset: int, limit: int) -> bytes:
        """The batches from the one with this offset on: one at least, then up to `limit` bytes."""
        found = b""
        for batch in self.batches[bisect.bisect_left(self.batches, offset, key=_last_offset) :]:
            if found and len(found) + len(batch.data) > limit:
                break
            found += batch.data
        return found


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
                    place = _topic(topic), entry["partition_index"]
                    try:
                        self._partitions.setdefault(place, _Partition()).note(entry)
                    except Malformed:
                        continue  # what stands before it is kept

    def answer(self, version: int, body: bytes) -> tuple[bytes, int] | None:
        """The response's body, and how long to wait with it (ms): as asked, if it has no records.

        None if the request can't be read or nothing of any of its partitions was recorded.
        """
        try:
            asked = api(FETCH).request.codec(version).decode(body)
        except (LookupError, Malformed):
            return None
        known = False
        left = asked.get("max_bytes", 2**31 - 1)
        size = 0
        responses = []
        for topic in asked["topics"]:
            entries = []
            for one in topic["partitions"]:
                partition = self._partitions.get((_topic(topic), one["partition"]))
                known |= partition is not None
                entry = _entry(partition, one, left - size, asked.get("isolation_level", 0))
                size += len(entry["records"])
                entries.append(entry)
            name = {key: topic[key] for key in ("topic", "topic_id") if key in topic}
            responses.append({**name, "partitions": entries})
        if not known and asked["topics"]:
            return None
        values = {"session_id": 0, "responses": responses}
        encoded = api(FETCH).response.codec(version).encode(values)
        return encoded, 0 if size else asked["max_wait_ms"]


def _topic(topic: Mapping[str, Any]) -> str | uuid.UUID:
    found: str | uuid.UUID = topic["topic"] if "topic" in topic else topic["topic_id"]
    return found


def _entry(
    partition: _Partition | None, asked: Mapping[str, Any], left: int, isolation: int
) -> dict[str, Any]:
    if partition is None:
        return {
            "partition_index": asked["partition"],
            "error_code": UNKNOWN_TOPIC_OR_PARTITION,
            "high_watermark": -1,
            "records": b"",
        }
    offset = asked["fetch_offset"]
    limit = min(left, asked["partition_max_bytes"])
    aborted = [
        {"producer_id": producer, "first_offset": first}
        for first, producer in sorted(partition.aborted)
    ]
    return {
        "partition_index": asked["partition"],
        "error_code": 0,
        "high_watermark": partition.high_watermark,
        "last_stable_offset": partition.last_stable_offset,
        "log_start_offset": partition.log_start_offset,
        "aborted_transactions": aborted if isolation == READ_COMMITTED else None,
        "records": partition.read(offset, limit) if left > 0 else b"",
    }
