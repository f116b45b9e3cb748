"""Estimate the lag of groups by captured offsets: a bound, not the broker's current state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.checks.partitions import answered_partitions, by_follower
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import topic_name
from barnabas.specs.keys import (
    END_TXN,
    FETCH,
    LIST_OFFSETS,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    TXN_OFFSET_COMMIT,
)

LATEST: Final = -1
"""The timestamp with which ListOffsets requests the end of a partition."""

PENDING: Final = 10_000
"""Offsets of an open transaction that are retained."""

_FETCHED: Final = tuple(
    f"responses.{path}"
    for path in (
        *("topic", "topic_id", "partitions.partition_index"),
        *("partitions.error_code", "partitions.high_watermark"),
    )
)

PartitionKey = tuple[str, int | str]
GroupPartition = tuple[str, str, int | str]
"""Group, topic and partition."""


@dataclass(frozen=True, slots=True)
class ReportedOffset:
    """An offset, the API that reported it, and when, in ns since the epoch."""

    offset: int
    api: str
    ts: int

    def row(self) -> dict[str, Any]:
        """Return it in JSON form, with the time as text."""
        return {"offset": self.offset, "api": self.api, "ts": str(self.ts)}


class Lag:
    """The last committed offset of each group and partition, next to the last known end of the partition.

    Offsets of a transaction count once it is committed. The end is the high watermark of a Fetch response, or
    the result of a ListOffsets without read_committed. Messages of a dialect count as the commits that its
    group reader translates them to.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._dialects = DialectGroups()
        self._committed: Memory[GroupPartition, ReportedOffset] = Memory()
        self._ends: Memory[PartitionKey, ReportedOffset] = Memory()
        self._pending: Memory[str, dict[tuple[str, str, int], int]] = Memory()
        self.fell_out = 0
        """Dropped offsets of transactions that had too many."""
        self._read_ends = {FETCH: self._fetched, LIST_OFFSETS: self._listed}
        self._read_commits = {OFFSET_COMMIT: self._commits, OFFSET_FETCH: self._positions}

    @property
    def forgotten(self) -> int:
        """Return the number of dropped entries."""
        dropped = self._committed.forgotten + self._ends.forgotten + self._pending.forgotten
        return dropped + self._dialects.forgotten

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned, in the order in which exchanges end."""
        for message in self._dialects.of(exchange):
            if message.key == OFFSET_COMMIT:
                commits = (
                    ((message.group, *partition), offset)
                    for *partition, offset in message.partitions
                )
                self._commit(commits, exchange.api, message.end)
        end, key = exchange.answered, exchange.key
        if end is None:
            return
        if key in self._read_ends:
            self._note_ends(self._read_ends[key](exchange), exchange.api, end)
        elif key in self._read_commits:
            self._commit(self._read_commits[key](exchange), exchange.api, end)
        elif key == TXN_OFFSET_COMMIT:
            self._hold(exchange)
        elif key == END_TXN and exchange.error == "" and exchange.request:
            pending = self._pending.pop(exchange.request["transactional_id"], {})
            if exchange.request["committed"]:
                self._commit(pending.items(), "TxnOffsetCommit", end)

    def _commit(self, commits: Iterable[tuple[Any, int]], api: str, ts: int) -> None:
        for key, offset in commits:
            self._committed[key] = ReportedOffset(offset, api, ts)

    def _note_ends(self, ends: Iterable[tuple[PartitionKey, int]], api: str, ts: int) -> None:
        for partition, offset in ends:
            before = self._ends.get(partition)
            if before is None or before.ts <= ts:
                self._ends[partition] = ReportedOffset(offset, api, ts)

    def _hold(self, exchange: Exchange) -> None:
        """Retain offsets until their transaction ends."""
        name = (exchange.request or {}).get("transactional_id", "")
        pending = self._pending.get(name) or {}
        for key, offset in self._commits(exchange):
            if key in pending or len(pending) < PENDING:
                pending[key] = offset
            else:
                self.fell_out += 1
        if pending:
            self._pending[name] = pending

    def lags(self) -> Iterator[tuple[GroupPartition, int | None]]:
        """Yield the lag of each partition with a committed offset; None if its end is unknown."""
        for key, committed in self._committed.items():
            end = self._ends.get(key[1:])
            yield key, None if end is None else max(end.offset - committed.offset, 0)

    def rows(self) -> list[dict[str, Any]]:
        """Return rows by group and partition; `lag` is null if the end is unknown."""
        rows = []
        for (group, topic, number), committed in sorted(
            self._committed.items(), key=lambda item: (*item[0][:2], str(item[0][2]).rjust(10))
        ):
            end = self._ends.get((topic, number))
            rows.append(
                {
                    "group": group,
                    "topic": topic,
                    "partition": number,
                    "committed": committed.row(),
                    "end": None if end is None else end.row(),
                    "lag": None if end is None else max(end.offset - committed.offset, 0),
                }
            )
        return rows

    def _topic(self, topic_fields: dict[str, Any]) -> str:
        return topic_name(topic_fields, self._context.topics, None)

    def _fetched(self, exchange: Exchange) -> Iterator[tuple[PartitionKey, int]]:
        request = fields(exchange, "request", "replica_id", "replica_state.replica_id") or {}
        if by_follower(request):
            return
        for topic in (fields(exchange, "response", *_FETCHED) or {}).get("responses", ()):
            for partition in topic["partitions"]:
                if not partition["error_code"] and partition["high_watermark"] >= 0:
                    yield (
                        (self._topic(topic), partition["partition_index"]),
                        partition["high_watermark"],
                    )

    def _listed(self, exchange: Exchange) -> Iterator[tuple[PartitionKey, int]]:
        if (exchange.request or {}).get("isolation_level"):
            return
        for partition in answered_partitions(exchange, self._context):
            answer = partition.response_fields or {"error_code": -1}
            if not answer["error_code"] and partition.fields["timestamp"] == LATEST:
                offset = answer.get("offset", max(answer.get("old_style_offsets") or [-1]))
                if offset >= 0:
                    yield (self._topic(partition.topic_fields), partition.number), offset

    def _commits(self, exchange: Exchange) -> Iterator[tuple[tuple[str, str, int], int]]:
        group = (exchange.request or {}).get("group_id", "")
        for partition in answered_partitions(exchange, self._context):
            if (
                partition.response_fields is not None
                and not partition.response_fields["error_code"]
            ):
                yield (
                    (group, self._topic(partition.topic_fields), partition.number),
                    partition.fields["committed_offset"],
                )

    def _positions(self, exchange: Exchange) -> Iterator[tuple[tuple[str, str, int], int]]:
        request, response = exchange.request or {}, exchange.response or {}
        alone = {"group_id": request.get("group_id"), "topics": response.get("topics", ())}
        for group in response.get("groups", (alone,)):
            for topic in group["topics"]:
                for partition in topic["partitions"]:
                    if not partition["error_code"] and partition["committed_offset"] >= 0:
                        key = (self._topic(topic), partition["partition_index"])
                        yield (group["group_id"], *key), partition["committed_offset"]
