"""Which topics a recording needs, and what the live cluster lacks of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import listed
from barnabas.peers.replay.plan import is_followers
from barnabas.peers.replay.routing import OF_LEADERS, places
from barnabas.plural import plural
from barnabas.specs.registry import key_of

CREATE_TOPICS: Final = key_of("CreateTopics")

WIDTH: Final = 500
"""Where a list of topics stops and the rest is counted, in characters."""


@dataclass(slots=True)
class Needed:
    """The partitions that leaders were asked for and answered without an error."""

    _partitions: dict[str | uuid.UUID, int] = field(default_factory=dict)
    """Topic, as requests have it -> how many partitions it has at least."""
    created: set[str] = field(default_factory=set)
    """Those that the recording makes itself."""

    def add(self, exchange: Exchange) -> None:
        """Take what an exchange is about."""
        if exchange.key in OF_LEADERS and not exchange.error:
            names = OF_LEADERS[exchange.key]
            partition = f"{names.topics}.{names.partitions}.{names.number}"
            topics = [f"{names.topics}.{name}" for name in ("name", "topic", "topic_id")]
            found = fields(
                exchange, "request", *topics, partition, "replica_id", "replica_state.replica_id"
            )
            if found is not None and not is_followers(found):
                for topic, number in places(exchange.key, found):
                    self._partitions[topic] = max(self._partitions.get(topic, 0), number + 1)
        elif exchange.key == CREATE_TOPICS:
            made = fields(exchange, "request", "topics.name") or {"topics": ()}
            self.created.update(topic["name"] for topic in made["topics"])

    def partitions(self, names: Mapping[uuid.UUID, str]) -> dict[str, int]:
        """The same by name; an id that nothing names is left out."""
        found: dict[str, int] = {}
        for topic, count in self._partitions.items():
            name = names.get(topic) if isinstance(topic, uuid.UUID) else topic
            if name:
                found[name] = max(found.get(name, 0), count)
        return found


def lacking(
    needed: Mapping[str, int], there: Mapping[str, int], created: Iterable[str]
) -> Iterator[str]:
    """What to say of a cluster with such topics. created: those that will be made in time.

    >>> list(lacking({"t": 2, "u": 1, "v": 3}, {"v": 1}, ["u"]))
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
