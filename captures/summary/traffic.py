"""Show which clients write and read each topic: totals and recent rates of records and bytes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.facts import GROUP_APIS
from barnabas.captures.checks.finding import CLIENT, client_key
from barnabas.captures.checks.partitions import answered_partitions, by_follower, partitions
from barnabas.captures.kafka.context import Context, registrations
from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import BYTES, MOST, Memory, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten, topic_name
from barnabas.specs.keys import FETCH, PRODUCE, SHARE_FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import read

WINDOW: Final = 10
"""Seconds that rates cover."""

SECOND: Final = 1_000_000_000


@dataclass(slots=True)
class Flow:
    """The records that one client writes to a topic, or reads from it."""

    topic: str
    direction: str
    """write or read."""
    client: str
    producer_id: int = -1
    """-1: none, or a reader."""
    group: str | None = None
    """The group of a reading client, if it is known; of several groups the latest."""
    records: int = 0
    bytes: int = 0
    refused: int = 0
    """Partitions of requests that got an error."""
    last: int = 0
    """When the last records passed, in ns since the epoch."""
    seconds: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    """(second, records, bytes) of the last seconds with records."""

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return weight((self.client, self.group)) + 96 * WINDOW

    def note(self, end: int, records: int, size: int) -> None:
        """Count records that had passed at `end`."""
        self.records += records
        self.bytes += size
        self.last = max(self.last, end)
        second = end // SECOND
        if self.seconds and self.seconds[-1][0] >= second:
            second, *before = self.seconds.pop()
            records, size = records + before[0], size + before[1]
        self.seconds.append((second, records, size))

    def row(self, now: int) -> dict[str, Any]:
        """Return the flow in JSON form; rates cover the WINDOW seconds up to `now`."""
        late = [second for second in self.seconds if now - WINDOW < second[0] <= now]
        return {
            "topic": self.topic,
            "direction": self.direction,
            "client": self.client,
            "producer_id": None if self.producer_id < 0 else self.producer_id,
            "group": self.group,
            "records": self.records,
            "bytes": self.bytes,
            "records_per_s": sum(second[1] for second in late) / WINDOW,
            "bytes_per_s": sum(second[2] for second in late) / WINDOW,
            "refused": self.refused,
            "last": str(self.last),
        }


class Traffic:
    """The flows of all topics: at most `most` flows of `bytes_` bytes, without the fetches of followers.

    Bytes are the bytes of record sets, records the counts in their batches; a reading client gets whole
    batches, and skips records that it did not request.

    >>> Traffic(Context()).rows()
    []
    """

    def __init__(self, context: Context, most: int = MOST, bytes_: int = BYTES) -> None:
        self._context = context
        self._flows: Memory[tuple[str, str, str, int | str | None], Flow] = Memory(most, bytes_)
        self._groups: Memory[str, str] = Memory(most, bytes_)
        """The group of a client, by `client_key`."""
        self._now = 0

    @property
    def forgotten(self) -> int:
        """Return the number of dropped flows and clients."""
        return self._flows.forgotten + self._groups.forgotten

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned, in the order in which exchanges end."""
        self._now = max(self._now, exchange.end)
        if exchange.api in GROUP_APIS or registrations.is_registration(exchange.key):
            group = (fields(exchange, "request", "group_id") or {}).get("group_id")
            if group:
                self._groups[client_key(exchange)] = group
        elif exchange.key == PRODUCE:
            self._written(exchange)
        elif exchange.key in (FETCH, SHARE_FETCH):
            self._read(exchange)

    def rows(self, now: int | None = None) -> list[dict[str, Any]]:
        """Return flows by topic, writers first, most bytes first.

        `now` is the end of the rates' window, in ns since the epoch; by default, the last exchange.
        """
        second = (self._now if now is None else now) // SECOND
        flows = sorted(
            self._flows.values(),
            key=lambda flow: (flow.topic, flow.direction == "read", -flow.bytes, flow.client),
        )
        return [flow.row(second) for flow in flows]

    def _written(self, exchange: Exchange) -> None:
        for partition in answered_partitions(exchange, self._context):
            records, producer = _announced(partition.fields["records"] or b"")
            refused = bool(partition.response_fields and partition.response_fields["error_code"])
            lost = partition.response_fields is None and bool((exchange.request or {}).get("acks"))
            counted = (
                (0, 0) if refused or lost else (records, len(partition.fields["records"] or b""))
            )
            client = shorten(exchange.client, CLIENT)
            flow = self._flow(
                topic_name(partition.topic_fields, self._context.topics, None),
                "write",
                client,
                producer,
            )
            flow.producer_id = producer
            self._note(exchange, flow, producer, *counted, refused)

    def _read(self, exchange: Exchange) -> None:
        request = fields(exchange, "request", "replica_id", "replica_state.replica_id", "group_id")
        if by_follower(request or {}):
            return
        group = (request or {}).get("group_id") or self._groups.get(client_key(exchange))
        for partition in partitions(exchange, "response", self._context):
            refused, data = bool(partition.fields["error_code"]), partition.fields["records"] or b""
            if not data and not refused:
                continue
            client = shorten(exchange.client, CLIENT)
            flow = self._flow(
                topic_name(partition.topic_fields, self._context.topics, None),
                "read",
                client,
                group,
            )
            flow.group = group
            self._note(exchange, flow, group, _announced(data)[0], len(data), refused)

    def _flow(self, topic: str, direction: str, client: str, identity: int | str | None) -> Flow:
        flow = self._flows.get((topic, direction, client, identity))
        return Flow(topic, direction, client) if flow is None else flow

    def _note(
        self,
        exchange: Exchange,
        flow: Flow,
        identity: int | str | None,
        records: int,
        size: int,
        refused: bool,
    ) -> None:
        if records or size:
            flow.note(exchange.end, records, size)
        flow.refused += refused
        self._flows[flow.topic, flow.direction, flow.client, identity] = flow


def _announced(data: bytes) -> tuple[int, int]:
    """Return the number of records in a record set, and the producer id of its first batch.

    A damaged record set counts up to the damage.
    """
    records, producer = 0, -1
    try:
        for batch in read(data):
            if not batch.is_control:
                producer = batch.producer_id if producer < 0 else producer
                records += sum(1 for _ in batch) if batch.count is None else batch.count
    except Malformed:
        pass
    return records, producer
