"""A group's entry in the registry: a single one, so that it is written atomically, as the page requires.

It has the generation, consumers with their partitions, the topics' partitions at the time of the assignment,
and committed offsets. It is JSON, since the page defines no format.
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
    """Return the path of a group's entry.

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
    """The host of its JoinGroup."""


@dataclass(frozen=True)
class Committed:
    """A committed offset; `timestamp` is the consumer's, in ms."""

    offset: int
    timestamp: int
    metadata: str


@dataclass(frozen=True)
class GroupEntry:
    """A group as stored in the registry."""

    generation: int = 0
    consumers: tuple[Consumer, ...] = ()
    partitions: dict[str, int] = field(default_factory=dict)
    """Partitions of all existing topics with subscribers."""
    offsets: dict[Partition, Committed] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Encode the entry as JSON."""
        row: dict[str, Any] = {
            "generation": self.generation,
            "consumers": [
                {
                    **vars(consumer),
                    "topics": sorted(consumer.topics),
                    "owns": [list(at) for at in consumer.owns],
                }
                for consumer in self.consumers
            ],
            "partitions": self.partitions,
            "offsets": [[*at, *vars(value).values()] for at, value in self.offsets.items()],
        }
        return json.dumps(row).encode()


def decode(data: bytes) -> GroupEntry:
    """Decode a group's entry. Raises ValueError.

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
                    consumer["consumer_id"],
                    consumer["session_timeout_ms"],
                    frozenset(consumer["topics"]),
                    consumer["strategy"],
                    tuple((topic, number) for topic, number in consumer["owns"]),
                    consumer["host"],
                )
                for consumer in row["consumers"]
            ),
            partitions=row["partitions"],
            offsets={
                (topic, number): Committed(*value) for topic, number, *value in row["offsets"]
            },
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"no group's entry: {problem!r}") from None
