"""What the registry has of a group: one entry, so that it is written at once, as the page asks.

Generation, consumers with what they own, the topics' partitions as they were when that was decided,
and committed offsets. JSON, since the page gives no format.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from barnabas.designs.brokers.registry.paths import below
from barnabas.designs.consumer_rewrite.peers.strategies import Partition

PATH = "/groups"
"""Below it each group has an entry of its name."""


def path_of(group: str) -> str:
    """Where a group's entry stands.

    >>> path_of("a/b")
    '/groups/a%2Fb'
    """
    return below(PATH, group)


@dataclass(frozen=True)
class Consumer:
    """A consumer of a generation."""

    consumer_id: str
    session_timeout_ms: int
    topics: frozenset[str]
    strategy: str
    owns: tuple[Partition, ...] = ()
    host: str = ""
    """Where its JoinGroup came from."""


@dataclass(frozen=True)
class Committed:
    """An offset as it was committed; `timestamp` is the consumer's, in ms."""

    offset: int
    timestamp: int
    metadata: str


@dataclass(frozen=True)
class GroupEntry:
    """A group as it is written down."""

    generation: int = 0
    consumers: tuple[Consumer, ...] = ()
    partitions: dict[str, int] = field(default_factory=dict)
    """Topic -> partitions, of all topics that somebody subscribes to and that there are."""
    offsets: dict[Partition, Committed] = field(default_factory=dict)

    def encode(self) -> bytes:
        """As JSON."""
        row: dict[str, Any] = {
            "generation": self.generation,
            "consumers": [
                {**vars(one), "topics": sorted(one.topics), "owns": [list(at) for at in one.owns]}
                for one in self.consumers
            ],
            "partitions": self.partitions,
            "offsets": [[*at, *vars(value).values()] for at, value in self.offsets.items()],
        }
        return json.dumps(row).encode()


def decode(data: bytes) -> GroupEntry:
    """A group as it was written down. Raises ValueError.

    >>> consumer = Consumer("g-1", 6000, frozenset("t"), "range", (("t", 0),))
    >>> decode(GroupEntry(3, (consumer,)).encode()).generation
    3
    """
    try:
        row = json.loads(data)
        return GroupEntry(
            generation=row["generation"],
            consumers=tuple(
                Consumer(
                    one["consumer_id"],
                    one["session_timeout_ms"],
                    frozenset(one["topics"]),
                    one["strategy"],
                    tuple((topic, number) for topic, number in one["owns"]),
                    one["host"],
                )
                for one in row["consumers"]
            ),
            partitions=row["partitions"],
            offsets={
                (topic, number): Committed(*value) for topic, number, *value in row["offsets"]
            },
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"no group's entry: {problem!r}") from None
