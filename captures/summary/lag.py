"""How far groups are behind, by the offsets that pass: a bound, not what the broker knows at this moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.checks.partitions import answered_partitions, by_follower
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.context.reading import fields
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
"""The time by which ListOffsets asks for the end of a partition."""

PENDING: Final = 10_000
"""Offsets of an open transaction that are kept."""

_FETCHED: Final = tuple(
    f"responses.{path}"
    for path in (
        *("topic", "topic_id", "partitions.partition_index"),
        *("partitions.error_code", "partitions.high_watermark"),
    )
)

Place = tuple[str, int | str]


@dataclass(frozen=True, slots=True)
class Seen:
    """An offset, the API that said it, and when, in ns since the epoch."""

    offset: int
    api: str
    ts: int

    def row(self) -> dict[str, Any]:
        """In JSON form, the time as text."""
        return {"offset": self.offset, "api": self.api, "ts": str(self.ts)}


class Lag:
    """The last committed offset of each group and partition, beside the end of the partition as it was last
    said.

    Offsets of a transaction count once it is committed. The end is the high watermark of a Fetch response,
    or what ListOffsets says without read_committed. Messages of a dialect count as the commits that its
    group reader makes of them.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._dialects = DialectGroups()
        self._committed: Memory[tuple[str, str, int | str], Seen] = Memory()
        self._ends: Memory[Place, Seen] = Memory()
        self._pending: Memory[str, dict[tuple[str, str, int], int]] = Memory()
        self.fell_out = 0
        """Offsets of transactions that had too many."""
        self._read_ends = {FETCH: self._fetched, LIST_OFFSETS: self._listed}
        self._read_commits = {OFFSET_COMMIT: self._commits, OFFSET_FETCH: self._positions}

    @property
    def forgotten(self) -> int:
        """What was forgotten because there was too much."""
        kept = self._committed.forgotten + self._ends.forgotten + self._pending.forgotten
        return kept + self._dialects.forgotten

    def add(self, exchange: Exchange) -> None:
        """Take an exchange of which the context has learnt, in the order in which they end."""
        for seen in self._dialects.of(exchange):
            if seen.key == OFFSET_COMMIT:
                commits = (((seen.group, *place), offset) for *place, offset in seen.partitions)
                self._commit(commits, exchange.api, seen.end)
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
            self._committed[key] = Seen(offset, api, ts)

    def _note_ends(self, ends: Iterable[tuple[Place, int]], api: str, ts: int) -> None:
        for place, offset in ends:
            before = self._ends.get(place)
            if before is None or before.ts <= ts:
                self._ends[place] = Seen(offset, api, ts)

    def _hold(self, exchange: Exchange) -> None:
        """Keep offsets until their transaction ends."""
        name = (exchange.request or {}).get("transactional_id", "")
        pending = self._pending.get(name) or {}
        for key, offset in self._commits(exchange):
            if key in pending or len(pending) < PENDING:
                pending[key] = offset
            else:
                self.fell_out += 1
        if pending:
            self._pending[name] = pending

    def rows(self) -> list[dict[str, Any]]:
        """By group and partition; `lag` is null where no end was seen."""
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

    def _topic(self, about: dict[str, Any]) -> str:
        return topic_name(about, self._context.topics, None)

    def _fetched(self, exchange: Exchange) -> Iterator[tuple[Place, int]]:
        asked = fields(exchange, "request", "replica_id", "replica_state.replica_id") or {}
        if by_follower(asked):
            return
        for about in (fields(exchange, "response", *_FETCHED) or {}).get("responses", ()):
            for one in about["partitions"]:
                if not one["error_code"] and one["high_watermark"] >= 0:
                    yield (self._topic(about), one["partition_index"]), one["high_watermark"]

    def _listed(self, exchange: Exchange) -> Iterator[tuple[Place, int]]:
        if (exchange.request or {}).get("isolation_level"):
            return
        for one in answered_partitions(exchange, self._context):
            answer = one.answer or {"error_code": -1}
            if not answer["error_code"] and one.said["timestamp"] == LATEST:
                offset = answer.get("offset", max(answer.get("old_style_offsets") or [-1]))
                if offset >= 0:
                    yield (self._topic(one.about), one.number), offset

    def _commits(self, exchange: Exchange) -> Iterator[tuple[tuple[str, str, int], int]]:
        group = (exchange.request or {}).get("group_id", "")
        for one in answered_partitions(exchange, self._context):
            if one.answer is not None and not one.answer["error_code"]:
                yield (group, self._topic(one.about), one.number), one.said["committed_offset"]

    def _positions(self, exchange: Exchange) -> Iterator[tuple[tuple[str, str, int], int]]:
        request, response = exchange.request or {}, exchange.response or {}
        alone = {"group_id": request.get("group_id"), "topics": response.get("topics", ())}
        for group in response.get("groups", (alone,)):
            for about in group["topics"]:
                for one in about["partitions"]:
                    if not one["error_code"] and one["committed_offset"] >= 0:
                        place = (self._topic(about), one["partition_index"])
                        yield (group["group_id"], *place), one["committed_offset"]
