"""A group's offsets: where they are kept is one of two places, which do not know of each other.

OffsetCommit and OffsetFetch v0 go to ZooKeeper by way of any broker; v1 to Kafka, at the group's coordinator,
which ConsumerMetadata v0 tells (FindCoordinator today). Whoever commits here is no member of the group.
Layouts: the wire protocol guide, and Kafka's definitions of these versions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from barnabas.designs.leaders import Address, Place, by_topic
from barnabas.designs.protocol_guide.client_0_8.client import PAUSE, Client, Unreachable
from barnabas.designs.protocol_guide.client_0_8.errors import Error
from barnabas.specs.keys import FIND_COORDINATOR, OFFSET_COMMIT, OFFSET_FETCH
from barnabas.trouble import reason_of

Storage = Literal["kafka", "zookeeper"]

NOTHING: Final = -1
"""The offset where nothing is committed."""

MOVED: Final = frozenset(
    (Error.COORDINATOR_LOAD_IN_PROGRESS, Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR)
)
"""After these the same is asked again of whoever is the coordinator then."""


class Committed(NamedTuple):
    """What is kept of a partition; offset: NOTHING if nothing is."""

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
        """Ask any broker for it, until there is one. Raises Unreachable."""
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
        self, positions: Mapping[Place, int], *, metadata: str | None = ""
    ) -> dict[Place, int]:
        """Keep the offset of the next message of each partition. Gives the error codes."""
        topics = [
            {
                "name": topic,
                "partitions": [
                    {"partition_index": i, "committed_offset": at, "committed_metadata": metadata}
                    for i, at in parts
                ],
            }
            for topic, parts in by_topic(positions.items())
        ]
        return {
            (topic["name"], part["partition_index"]): part["error_code"]
            for topic in self._ask(OFFSET_COMMIT, topics)["topics"]
            for part in topic["partitions"]
        }

    def committed(self, places: Iterable[Place]) -> dict[Place, Committed]:
        """What is kept of each partition."""
        topics = [
            {"name": topic, "partition_indexes": [i for i, _ in parts]}
            for topic, parts in by_topic((place, None) for place in places)
        ]
        return {
            (topic["name"], part["partition_index"]): Committed(
                part["error_code"], part["committed_offset"], part["metadata"]
            )
            for topic in self._ask(OFFSET_FETCH, topics)["topics"]
            for part in topic["partitions"]
        }

    def _ask(self, key: int, topics: list[dict[str, Any]]) -> dict[str, Any]:
        """Ask whoever keeps them; again if another one does. Raises Unreachable."""
        body = {"group_id": self.name, "topics": topics}
        if self._storage == "zookeeper":
            return self._client.ask_any(key, body)
        until = time.monotonic() + self._client.patience
        while True:
            try:
                answer = self._client.ask(self._coordinator or self.coordinator(), key, body, 1)
                errors = set(_errors(answer))
                # 3.9.1 answers OffsetFetch v1 without partitions where it is not the coordinator (yet)
                missing = topics and not errors
                if time.monotonic() >= until or not (missing or MOVED & errors):
                    return answer
            except Unreachable:
                raise
            except OSError as problem:
                if time.monotonic() >= until:
                    raise Unreachable(
                        f"the coordinator of {self.name}: {reason_of(problem)}"
                    ) from None
            self._coordinator = None
            time.sleep(PAUSE)


def _errors(body: Mapping[str, Any]) -> list[int]:
    return [part["error_code"] for topic in body["topics"] for part in topic["partitions"]]
