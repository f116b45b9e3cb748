"""Who writes a topic and who reads it: records and bytes so far, and their rates of late."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.facts import GROUP_APIS
from barnabas.captures.checks.finding import CLIENT, client_key
from barnabas.captures.checks.partitions import answered_partitions, by_follower, partitions
from barnabas.captures.kafka.context import Context, registrations
from barnabas.captures.kafka.context.memory import BYTES, MOST, Memory, weight
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten, topic_name
from barnabas.specs.keys import FETCH, PRODUCE, SHARE_FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import read

WINDOW: Final = 10
"""Seconds that rates are of."""

SECOND: Final = 1_000_000_000


@dataclass(slots=True)
class Flow:
    """What one client writes to a topic, or reads from it."""

    topic: str
    direction: str
    """write or read."""
    client: str
    producer_id: int = -1
    """-1: none, and of who reads."""
    group: str | None = None
    """Of who reads: that of its client, as far as it was seen; the last one, if it is in several."""
    records: int = 0
    bytes: int = 0
    refused: int = 0
    """Partitions of requests that were answered with an error."""
    last: int = 0
    """When the last of it passed, in ns since the epoch."""
    seconds: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    """(second, records, bytes) of the last seconds in which something passed."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return weight((self.client, self.group)) + 96 * WINDOW

    def note(self, end: int, records: int, size: int) -> None:
        """Count records; `end` is when they had passed."""
        self.records += records
        self.bytes += size
        self.last = max(self.last, end)
        second = end // SECOND
        if self.seconds and self.seconds[-1][0] >= second:
            second, *before = self.seconds.pop()
            records, size = records + before[0], size + before[1]
        self.seconds.append((second, records, size))

    def row(self, now: int) -> dict[str, Any]:
        """In JSON form; rates are of the WINDOW seconds up to that one."""
        late = [one for one in self.seconds if now - WINDOW < one[0] <= now]
        return {
            "topic": self.topic,
            "direction": self.direction,
            "client": self.client,
            "producer_id": None if self.producer_id < 0 else self.producer_id,
            "group": self.group,
            "records": self.records,
            "bytes": self.bytes,
            "records_per_s": sum(one[1] for one in late) / WINDOW,
            "bytes_per_s": sum(one[2] for one in late) / WINDOW,
            "refused": self.refused,
            "last": str(self.last),
        }


class Traffic:
    """Flows of all topics: `most` of `bytes_`; what followers fetch is left out.

    Bytes are those of the record sets, records what their batches announce; a client that reads gets whole
    batches, and skips what it did not ask for.

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
        """Flows and clients that made room for later ones."""
        return self._flows.forgotten + self._groups.forgotten

    def add(self, exchange: Exchange) -> None:
        """Take an exchange of which the context has learnt, in the order in which they end."""
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
        """By topic, who writes first, most bytes first; now: up to when rates are, in ns since the epoch,
        otherwise to the last exchange."""
        second = (self._now if now is None else now) // SECOND
        flows = sorted(
            self._flows.values(),
            key=lambda one: (one.topic, one.direction == "read", -one.bytes, one.client),
        )
        return [one.row(second) for one in flows]

    def _written(self, exchange: Exchange) -> None:
        for one in answered_partitions(exchange, self._context):
            records, producer = _announced(one.said["records"] or b"")
            refused = bool(one.answer and one.answer["error_code"])
            lost = one.answer is None and bool((exchange.request or {}).get("acks"))
            counted = (0, 0) if refused or lost else (records, len(one.said["records"] or b""))
            client = shorten(exchange.client, CLIENT)
            flow = self._flow(
                topic_name(one.about, self._context.topics, None), "write", client, producer
            )
            flow.producer_id = producer
            self._note(exchange, flow, producer, *counted, refused)

    def _read(self, exchange: Exchange) -> None:
        asked = fields(exchange, "request", "replica_id", "replica_state.replica_id", "group_id")
        if by_follower(asked or {}):
            return
        group = (asked or {}).get("group_id") or self._groups.get(client_key(exchange))
        for one in partitions(exchange, "response", self._context):
            refused, data = bool(one.said["error_code"]), one.said["records"] or b""
            if not data and not refused:
                continue
            client = shorten(exchange.client, CLIENT)
            flow = self._flow(
                topic_name(one.about, self._context.topics, None), "read", client, group
            )
            flow.group = group
            self._note(exchange, flow, group, _announced(data)[0], len(data), refused)

    def _flow(self, topic: str, direction: str, client: str, who: int | str | None) -> Flow:
        found = self._flows.get((topic, direction, client, who))
        return Flow(topic, direction, client) if found is None else found

    def _note(
        self,
        exchange: Exchange,
        flow: Flow,
        who: int | str | None,
        records: int,
        size: int,
        refused: bool,
    ) -> None:
        if records or size:
            flow.note(exchange.end, records, size)
        flow.refused += refused
        self._flows[flow.topic, flow.direction, flow.client, who] = flow


def _announced(data: bytes) -> tuple[int, int]:
    """(records, producer id of the first batch) of a record set, as far as it can be read."""
    records, producer = 0, -1
    try:
        for batch in read(data):
            if not batch.is_control:
                producer = batch.producer_id if producer < 0 else producer
                records += sum(1 for _ in batch) if batch.count is None else batch.count
    except Malformed:
        pass
    return records, producer
