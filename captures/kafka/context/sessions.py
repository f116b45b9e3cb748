"""Fetch sessions (KIP-227) and share sessions (KIP-932): which partitions each is about.

After a full request only what changes is sent. The broker keeps a fetch session by its id, a share
session by group and member; both survive a client's connection in what the requests mean, so they
are kept here by broker. Rules: FetchSession.scala, ShareSession.java.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.memory import ELEMENT, Memory, weight
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import FETCH, SHARE_ACKNOWLEDGE, SHARE_FETCH

KEYS: Final = (FETCH, SHARE_FETCH, SHARE_ACKNOWLEDGE)
"""Who teaches them."""

NOT_FOUND: Final = (70, 122)
"""FETCH_SESSION_ID_NOT_FOUND, SHARE_SESSION_NOT_FOUND."""

FINAL: Final = -1
"""The epoch of a request that ends a session."""

MOST: Final = 10_000
"""Sessions that are remembered; a broker keeps 1,000 (max.incremental.fetch.session.cache.slots)."""

PARTITIONS: Final = 100_000
"""Partitions of one session; a larger one counts as not known."""

Topic = str | uuid.UUID


class Key(NamedTuple):
    """What a session is known by: its id if it is a fetch session, else group and member."""

    broker: int | None
    id: int | None = None
    group: str | None = None
    member: str | None = None


@dataclass(slots=True)
class Session:
    """What a session is about, as far as it was seen."""

    id: int | None
    """Of a fetch session; share sessions have none."""
    partitions: dict[Topic, set[int]] = field(default_factory=dict)
    complete: bool = True
    """Whether it was seen from its beginning: else it may have more partitions than these."""

    @property
    def count(self) -> int:
        """How many partitions are known."""
        return sum(map(len, self.partitions.values()))

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return weight(tuple(self.partitions)) + ELEMENT * self.count

    def change(
        self, added: Iterable[tuple[Topic, set[int]]], gone: Iterable[tuple[Topic, set[int]]]
    ) -> None:
        """What an incremental request says."""
        for topic, partitions in added:
            self.partitions[topic] = self.partitions.get(topic, set()) | partitions
        for topic, partitions in gone:
            rest = self.partitions.pop(topic, set()) - partitions
            if rest:
                self.partitions[topic] = rest
        if self.count > PARTITIONS:
            self.partitions, self.complete = {}, False


class Sessions(Memory[Key, Session]):
    """The sessions of all brokers."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__(most)

    def learn(self, exchange: Exchange) -> None:
        """Take what a Fetch, ShareFetch or ShareAcknowledge says."""
        if exchange.key == FETCH:
            self._fetch(exchange)
        else:
            self._share(exchange)

    def of(self, exchange: Exchange) -> Session | None:
        """The session that an exchange is part of, as it is known after it; None if there is none.

        One that began before anybody listened is there all the same, and is not `complete`.
        """
        if exchange.key == FETCH:
            for direction in ("response", "request"):
                found = fields(exchange, direction, "session_id") or {}
                if found.get("session_id"):
                    return self.get(Key(exchange.broker, found["session_id"]))
            return None
        if exchange.key in (SHARE_FETCH, SHARE_ACKNOWLEDGE):
            return self.get(_share_key(exchange))
        return None

    def _fetch(self, exchange: Exchange) -> None:
        request = fields(exchange, "request", *_FETCH_PATHS)
        response = fields(exchange, "response", "error_code", "session_id")
        if not request or not response or "session_id" not in request:
            return  # before v7, or nobody knows whether the broker got it
        before = Key(exchange.broker, request["session_id"])
        if response["error_code"] in NOT_FOUND:
            self.pop(before, None)
        elif not response["error_code"]:
            after = Key(exchange.broker, response["session_id"])
            self._step(request, request["session_epoch"], before, after)

    def _share(self, exchange: Exchange) -> None:
        request = fields(exchange, "request", *_SHARE_PATHS)
        response = fields(exchange, "response", "error_code")
        if not request or not response:
            return
        key, epoch = _share_key(exchange), request["share_session_epoch"]
        if response["error_code"] in NOT_FOUND:
            self.pop(key, None)
        elif exchange.key == SHARE_ACKNOWLEDGE:
            if epoch == FINAL:
                self.pop(key, None)
        elif not response["error_code"]:
            self._step(request, epoch, key, key)

    def _step(self, request: dict[str, Any], epoch: int, before: Key, after: Key) -> None:
        """Epoch 0 begins a session (instead of the old one, if there was one), -1 ends it."""
        if epoch <= 0:
            self.pop(before, None)
        if epoch == FINAL or after.id == 0:  # 0: the broker's cache is full, it made none
            return
        known = Session(after.id) if epoch <= 0 else self.get(before)
        known = known or Session(before.id, complete=False)
        known.change(_added(request), _gone(request))
        self[after if epoch <= 0 else before] = known


_FETCH_PATHS: Final = (
    "session_id",
    "session_epoch",
    "topics.topic",
    "topics.topic_id",
    "topics.partitions.partition",
    "forgotten_topics_data",
)
_SHARE_PATHS: Final = (
    "share_session_epoch",
    "topics.topic_id",
    "topics.partitions.partition_index",
    "forgotten_topics_data",
)


def _share_key(exchange: Exchange) -> Key:
    found = fields(exchange, "request", "group_id", "member_id") or {}
    return Key(exchange.broker, None, found.get("group_id"), found.get("member_id"))


def _topic(found: dict[str, Any]) -> Topic:
    return found["topic"] if "topic" in found else found["topic_id"]  # type: ignore[no-any-return]


def _added(request: dict[str, Any]) -> list[tuple[Topic, set[int]]]:
    index = "partition_index" if "share_session_epoch" in request else "partition"
    return [
        (_topic(topic), {partition[index] for partition in topic["partitions"]})
        for topic in request["topics"]
    ]


def _gone(request: dict[str, Any]) -> list[tuple[Topic, set[int]]]:
    return [
        (_topic(topic), set(topic["partitions"]))
        for topic in request.get("forgotten_topics_data") or ()
    ]
