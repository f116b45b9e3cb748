"""The topics that a recording needs, and those that the live cluster lacks."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import listed
from barnabas.peers.replay.plan import is_from_follower
from barnabas.peers.replay.routing import OF_LEADERS, leader_partitions
from barnabas.plural import plural
from barnabas.specs.registry import key_of

CREATE_TOPICS: Final = key_of("CreateTopics")

WIDTH: Final = 500
"""Characters of a list of topics; further topics are counted."""


@dataclass(slots=True)
class NeededTopics:
    """Partitions with successful requests to their leaders: the recording needs them."""

    _partitions: dict[str | uuid.UUID, int] = field(default_factory=dict)
    """Topic, as requests have it -> how many partitions it has at least."""
    created: set[str] = field(default_factory=set)
    """Topics that the recording creates itself."""

    def add(self, exchange: Exchange) -> None:
        """Add the topics and partitions of an exchange."""
        if exchange.key in OF_LEADERS and not exchange.error:
            names = OF_LEADERS[exchange.key]
            partition = f"{names.topics}.{names.partitions}.{names.number}"
            topics = [f"{names.topics}.{name}" for name in ("name", "topic", "topic_id")]
            request = fields(
                exchange, "request", *topics, partition, "replica_id", "replica_state.replica_id"
            )
            if request is not None and not is_from_follower(request):
                for topic, number in leader_partitions(exchange.key, request):
                    self._partitions[topic] = max(self._partitions.get(topic, 0), number + 1)
        elif exchange.key == CREATE_TOPICS:
            creation = fields(exchange, "request", "topics.name") or {"topics": ()}
            self.created.update(topic["name"] for topic in creation["topics"])

    def partitions(self, names: Mapping[uuid.UUID, str]) -> dict[str, int]:
        """Return the needed number of partitions by topic name; ids without a name are omitted."""
        counts: dict[str, int] = {}
        for topic, count in self._partitions.items():
            name = names.get(topic) if isinstance(topic, uuid.UUID) else topic
            if name:
                counts[name] = max(counts.get(name, 0), count)
        return counts


def missing_topics(
    needed: Mapping[str, int], there: Mapping[str, int], created: Iterable[str]
) -> Iterator[str]:
    """Yield warnings about topics and partitions that the live cluster lacks.

    Args:
        needed: number of partitions by topic.
        there: the cluster's topics, the same way.
        created: topics that the replay creates in time.

    >>> list(missing_topics({"t": 2, "u": 1, "v": 3}, {"v": 1}, ["u"]))
    ['the target lacks t (2 partitions)', 'the target has v with 1 partition, but the recording uses 3']
    """
    known = dict.fromkeys(created, 1 << 31) | dict(there)
    missing = [
        f"{topic} ({plural(count, 'partition')})"
        for topic, count in sorted(needed.items())
        if topic not in known
    ]
    if missing:
        yield f"the target lacks {listed(missing, 'topic', WIDTH)}"
    for topic, count in sorted(needed.items()):
        if known.get(topic, count) < count:
            yield (
                f"the target has {topic} with {plural(known[topic], 'partition')}, but the "
                f"recording uses {count}"
            )
