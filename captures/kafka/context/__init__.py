"""Learn what messages leave out from the messages before them.

Fetch from v13 names topics by id only (KIP-516); an incremental Fetch lists only changed partitions
(KIP-227); so do the heartbeats of new groups (KIP-848) for subscriptions and assignments; a transaction
marker names a producer by number; captures of other tools name a broker by its address. One context sees all
exchanges of a proxy or a capture in the order in which they end. Facts from before its start are unknown: the
context reports that (`complete`, None) and never guesses.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from barnabas.captures.kafka.context import (
    brokers,
    groups,
    members,
    producers,
    registrations,
    sessions,
)
from barnabas.captures.kafka.context.brokers import Brokers
from barnabas.captures.kafka.context.groups import Group, learn_group
from barnabas.captures.kafka.context.id_names import PRODUCER, TOPIC, directions, ids_with_names
from barnabas.captures.kafka.context.members import Members
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.context.producers import learn_producer
from barnabas.captures.kafka.context.registrations import learn_registration
from barnabas.captures.kafka.context.sessions import Sessions
from barnabas.captures.kafka.exchange import Exchange

__all__ = ["Context", "Group"]


@dataclass(slots=True)
class Context:
    """All facts learned so far."""

    topics: Memory[uuid.UUID, str] = field(default_factory=Memory)
    """Topic names by topic id."""
    groups: Memory[str, Group] = field(default_factory=Memory)
    """Protocol type and name of groups, by group id."""
    sessions: Sessions = field(default_factory=Sessions)
    """The partitions of fetch sessions and share sessions."""
    members: Members = field(default_factory=Members)
    """Subscriptions and assignments of members that send group heartbeats (KIP-848, 932, 1071)."""
    producers: Memory[int, str] = field(default_factory=Memory)
    """Transactional ids by producer id."""
    registrations: Memory[int, str] = field(default_factory=Memory)
    """The group of each connection that a dialect binds to a group."""
    brokers: Brokers = field(default_factory=Brokers)
    """Node ids of brokers by address, for captures of other tools."""

    def learn(self, exchange: Exchange) -> None:
        """Learn from an exchange. Undecodable bodies are ignored."""
        for learn in _lessons(exchange.key, exchange.version):
            learn(self, exchange)

    @property
    def forgotten(self) -> int:
        """Return the number of entries that were dropped because there were too many."""
        of_groups = self.groups.forgotten + self.members.forgotten
        of_brokers = self.brokers.nodes.forgotten + self.sessions.forgotten
        of_ids = self.topics.forgotten + self.producers.forgotten + self.registrations.forgotten
        return of_ids + of_groups + of_brokers


Lesson = Callable[[Context, Exchange], None]


@lru_cache(4096)
def _lessons(key: int, version: int) -> tuple[Lesson, ...]:
    """Return the functions that learn from exchanges of an API; most APIs have none."""
    return tuple(_lessons_of(key, version))


def _lessons_of(key: int, version: int) -> Iterator[Lesson]:
    if directions(key, version, TOPIC, True):
        yield lambda context, exchange: context.topics.update(ids_with_names(exchange, TOPIC))
    if directions(key, version, PRODUCER, True):
        yield lambda context, exchange: context.producers.update(ids_with_names(exchange, PRODUCER))
    if key in producers.KEYS:
        yield lambda context, exchange: learn_producer(context.producers, exchange)
    if key in groups.KEYS:
        yield lambda context, exchange: learn_group(context.groups, exchange)
    if key in sessions.KEYS:
        yield lambda context, exchange: context.sessions.learn(exchange)
    if key in members.KEYS:
        yield lambda context, exchange: context.members.learn(exchange)
    if registrations.is_registration(key):
        yield lambda context, exchange: learn_registration(context.registrations, exchange)
    if key in brokers.KEYS:
        yield lambda context, exchange: context.brokers.learn(exchange)
