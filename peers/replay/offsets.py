"""Where the live brokers put the recorded batches: offsets of the recording and of the live partitions."""

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
"""The same of responses; those of Fetch stand in its records."""

Place = tuple[str | uuid.UUID, int]
"""Topic, by name or recorded id, and partition."""


@dataclass(slots=True)
class Offsets:
    """Of each partition: recorded base offsets and how far off the live ones are."""

    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    """Names by recorded id."""
    _bases: defaultdict[Place, list[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def put(self, place: Place, recorded: int, live: int) -> None:
        """A batch had this base offset, and has that one now."""
        found = self._bases[self._by_name(place)]
        entry = recorded, live - recorded
        at = bisect.bisect_left(found, (recorded,))
        if at < len(found) and found[at][0] == recorded:
            found[at] = entry
        elif at == 0 or found[at - 1][1] != entry[1] or at < len(found):
            found.insert(at, entry)

    def live(self, place: Place, offset: int) -> int:
        """The live offset; the same if nothing before it was produced in the replay.

        >>> offsets = Offsets()
        >>> offsets.put(("t", 0), 10, 3)
        >>> offsets.live(("t", 0), 12), offsets.live(("t", 0), 4), offsets.live(("t", 0), -1)
        (5, 4, -1)
        """
        found = self._bases.get(self._by_name(place))
        if not found or offset < 0:
            return offset
        at = bisect.bisect_right(found, (offset, 1 << 63))
        return offset + found[at - 1][1] if at else offset

    def learn(
        self, recorded: dict[str, Any], live: dict[str, Any], names: Mapping[uuid.UUID, str]
    ) -> None:
        """Take where a Produce's batches went. names: of topics by their live ids."""
        theirs = {_named(place, names): entry for place, entry in partitions(live, "index")}
        for place, entry in partitions(recorded, "index"):
            other = theirs.get(self._by_name(place))
            if other is not None and entry["base_offset"] >= 0 and other["base_offset"] >= 0:
                self.put(place, entry["base_offset"], other["base_offset"])

    def translate(
        self, key: int, direction: Literal["request", "response"], body: dict[str, Any]
    ) -> None:
        """Put live offsets into a body, which is the caller's own. Topics have their recorded ids."""
        table = REQUESTS if direction == "request" else RESPONSES
        if key not in table:
            return
        name, index = table[key]
        for place, entry in partitions(body, index):
            if name in entry:
                entry[name] = self.live(place, entry[name])

    def _by_name(self, place: Place) -> Place:
        return _named(place, self.topics)


def _named(place: Place, names: Mapping[uuid.UUID, str]) -> Place:
    topic, number = place
    return (names.get(topic, topic), number) if isinstance(topic, uuid.UUID) else place


def partitions(body: dict[str, Any], index: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The partitions of a body by topic, wherever they stand in it. index: the field of their number."""
    topic = body.get("topic") or body.get("name") or body.get("topic_id")
    for value in body.values():
        if not isinstance(value, list) or not value or not isinstance(value[0], dict):
            continue
        for entry in value:
            if topic is not None and index in entry:
                yield (topic, entry[index]), entry
            else:
                yield from partitions(entry, index)
