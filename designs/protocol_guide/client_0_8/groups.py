"""Committed offsets of a group, in one of two stores that do not share them.

OffsetCommit and OffsetFetch v0 store offsets in ZooKeeper through any broker. v1 stores them in Kafka, at
the group's coordinator, which ConsumerMetadata v0 (FindCoordinator today) names. The client that commits is
no member of the group. Layouts: the wire protocol guide, and Kafka's definitions of these versions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from barnabas.designs.leaders import Address, TopicPartition, parts_in, topics_with
from barnabas.designs.protocol_guide.client_0_8.client import PAUSE, Client, Unreachable
from barnabas.designs.protocol_guide.client_0_8.errors import Error
from barnabas.specs.keys import FIND_COORDINATOR, OFFSET_COMMIT, OFFSET_FETCH
from barnabas.trouble import reason_of

Storage = Literal["kafka", "zookeeper"]

NOTHING: Final = -1
"""The offset of a partition without a commit."""

MOVED: Final = frozenset(
    (Error.COORDINATOR_LOAD_IN_PROGRESS, Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR)
)
"""Errors after which the group looks for its coordinator and repeats the request."""


class Committed(NamedTuple):
    """The commit of a partition; offset: NOTHING if there is no commit."""

    error: int
    offset: int
    metadata: str | None


class Group:
    """A group, by its name.

    with Client([("127.0.0.1", 9092)]) as client:
        group = Group(client, "billing")
        group.commit({("orders", 0): 42})
        group.committed([("orders", 0)])
    """

    def __init__(self, client: Client, name: str, *, storage: Storage = "kafka") -> None:
        self.name = name
        self._client = client
        self._storage = storage
        self._coordinator: Address | None = None

    def coordinator(self) -> Address:
        """Ask any broker for the coordinator until there is one. Raises Unreachable."""
        until = time.monotonic() + self._client.patience
        while True:
            body = self._client.ask_any(FIND_COORDINATOR, {"key": self.name})
            if not body["error_code"]:
                self._coordinator = body["host"], body["port"]
                return self._coordinator
            if time.monotonic() >= until:
                raise Unreachable(f"no coordinator of {self.name}: error {body['error_code']}")
            time.sleep(PAUSE)

    def commit(
        self, positions: Mapping[TopicPartition, int], *, metadata: str | None = ""
    ) -> dict[TopicPartition, int]:
        """Commit the offset of the next message of each partition, and return the error codes."""

        def part(number: int, offset: int) -> dict[str, Any]:
            stored = {"committed_offset": offset, "committed_metadata": metadata}
            return {"partition_index": number, **stored}

        answers = self._ask(OFFSET_COMMIT, topics_with(positions, part))
        return {partition: answer["error_code"] for partition, answer in answers.items()}

    def committed(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, Committed]:
        """Return the commit of each partition."""
        places = dict.fromkeys(places)
        topics = topics_with(places, lambda number, _: number, inner="partition_indexes")
        return {
            partition: Committed(part["error_code"], part["committed_offset"], part["metadata"])
            for partition, part in self._ask(OFFSET_FETCH, topics).items()
        }

    def _ask(
        self, key: int, topics: list[dict[str, Any]]
    ) -> dict[TopicPartition, Mapping[str, Any]]:
        """Ask the coordinator; if it moves, ask the next one. Raises Unreachable."""
        body = {"group_id": self.name, "topics": topics}
        if self._storage == "zookeeper":
            return dict(parts_in(self._client.ask_any(key, body)["topics"]))
        until = time.monotonic() + self._client.patience
        while True:
            try:
                answer = self._client.ask(self._coordinator or self.coordinator(), key, body, 1)
                parts = dict(parts_in(answer["topics"]))
                moved = any(part["error_code"] in MOVED for part in parts.values())
                # 3.9.1 responds to OffsetFetch v1 without partitions where it is not the coordinator (yet)
                missing = topics and not parts
                if time.monotonic() >= until or not (missing or moved):
                    return parts
            except Unreachable:
                raise
            except OSError as problem:
                if time.monotonic() >= until:
                    reason = f"the coordinator of {self.name}: {reason_of(problem)}"
                    raise Unreachable(reason) from None
            self._coordinator = None
            time.sleep(PAUSE)
