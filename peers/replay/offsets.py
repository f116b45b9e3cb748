"""Offsets in the recording, and the live offsets of the same batches."""

from __future__ import annotations

import bisect
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from barnabas.specs.keys import (
    DELETE_RECORDS,
    FETCH,
    LIST_OFFSETS,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    PRODUCE,
    TXN_OFFSET_COMMIT,
)

REQUESTS: Final[dict[int, tuple[str, str]]] = {
    FETCH: ("fetch_offset", "partition"),
    OFFSET_COMMIT: ("committed_offset", "partition_index"),
    DELETE_RECORDS: ("offset", "partition_index"),
    TXN_OFFSET_COMMIT: ("committed_offset", "partition_index"),
}
"""API key -> the field of its request with an offset, and that with the partition's number."""

RESPONSES: Final[dict[int, tuple[str, str]]] = {
    PRODUCE: ("base_offset", "index"),
    LIST_OFFSETS: ("offset", "partition_index"),
    OFFSET_FETCH: ("committed_offset", "partition_index"),
}
"""The fields of responses; a Fetch's offsets are in its records."""

TopicPartition = tuple[str | uuid.UUID, int]
"""Topic, by name or recorded id, and partition."""


@dataclass(slots=True)
class Offsets:
    """Recorded base offsets of each partition, and the distance of the live ones."""

    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    """Names by recorded id."""
    _bases: defaultdict[TopicPartition, list[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def put(self, partition: TopicPartition, recorded: int, live: int) -> None:
        """Record the live base offset of a recorded batch."""
        bases = self._bases[self._by_name(partition)]
        entry = recorded, live - recorded
        index = bisect.bisect_left(bases, (recorded,))
        if index < len(bases) and bases[index][0] == recorded:
            bases[index] = entry
        elif index == 0 or bases[index - 1][1] != entry[1] or index < len(bases):
            bases.insert(index, entry)

    def live(self, partition: TopicPartition, offset: int) -> int:
        """Return the live offset; the recorded one if nothing before it was produced in the replay.

        >>> offsets = Offsets()
        >>> offsets.put(("t", 0), 10, 3)
        >>> offsets.live(("t", 0), 12), offsets.live(("t", 0), 4), offsets.live(("t", 0), -1)
        (5, 4, -1)
        """
        bases = self._bases.get(self._by_name(partition))
        if not bases or offset < 0:
            return offset
        index = bisect.bisect_right(bases, (offset, 1 << 63))
        return offset + bases[index - 1][1] if index else offset

    def learn(
        self, recorded: dict[str, Any], live: dict[str, Any], names: Mapping[uuid.UUID, str]
    ) -> None:
        """Learn the base offsets in a live Produce response. names: of topics by their live ids."""
        live_entries = {
            _named(partition, names): entry for partition, entry in partitions(live, "index")
        }
        for partition, entry in partitions(recorded, "index"):
            live_entry = live_entries.get(self._by_name(partition))
            if (
                live_entry is not None
                and entry["base_offset"] >= 0
                and live_entry["base_offset"] >= 0
            ):
                self.put(partition, entry["base_offset"], live_entry["base_offset"])

    def translate(
        self, key: int, direction: Literal["request", "response"], body: dict[str, Any]
    ) -> None:
        """Replace the offsets in a body, in place, by live ones. Topics have their recorded ids."""
        table = REQUESTS if direction == "request" else RESPONSES
        if key not in table:
            return
        name, index = table[key]
        for partition, entry in partitions(body, index):
            if name in entry:
                entry[name] = self.live(partition, entry[name])

    def _by_name(self, partition: TopicPartition) -> TopicPartition:
        return _named(partition, self.topics)


def _named(partition: TopicPartition, names: Mapping[uuid.UUID, str]) -> TopicPartition:
    topic, number = partition
    return (names.get(topic, topic), number) if isinstance(topic, uuid.UUID) else partition


def partitions(body: dict[str, Any], index: str) -> Iterator[tuple[TopicPartition, dict[str, Any]]]:
    """Yield the partitions of a body at every depth, by topic. index: the field with their number."""
    topic = body.get("topic") or body.get("name") or body.get("topic_id")
    for value in body.values():
        if not isinstance(value, list) or not value or not isinstance(value[0], dict):
            continue
        for entry in value:
            if topic is not None and index in entry:
                yield (topic, entry[index]), entry
            else:
                yield from partitions(entry, index)
