"""Track the partitions of fetch sessions (KIP-227) and share sessions (KIP-932).

After a full request, a client only sends changes. The broker identifies a fetch session by its id, a share
session by group and member; both outlive a connection, so they are stored by broker here. Rules:
FetchSession.scala, ShareSession.java.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import ELEMENT, Memory, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import FETCH, SHARE_ACKNOWLEDGE, SHARE_FETCH

KEYS: Final = (FETCH, SHARE_FETCH, SHARE_ACKNOWLEDGE)
"""The APIs that reveal them."""

INCREMENTAL: Final = (FETCH, SHARE_FETCH)
"""The APIs whose requests only name the changes of a session's partitions."""

NOT_FOUND: Final = (70, 122)
"""FETCH_SESSION_ID_NOT_FOUND, SHARE_SESSION_NOT_FOUND."""

FINAL: Final = -1
"""The epoch of a request that ends a session."""

MOST: Final = 10_000
"""Sessions at most; a broker keeps 1,000 (max.incremental.fetch.session.cache.slots)."""

PARTITIONS: Final = 100_000
"""Partitions of one session; the partitions of a larger session count as unknown."""

Topic = str | uuid.UUID


class Key(NamedTuple):
    """The identity of a session: the id of a fetch session; group and member of a share session."""

    broker: int | None
    id: int | None = None
    group: str | None = None
    member: str | None = None


@dataclass(slots=True)
class Session:
    """The partitions of a session, as far as they are known."""

    id: int | None
    """The id of a fetch session; None for a share session."""
    partitions: dict[Topic, set[int]] = field(default_factory=dict)
    complete: bool = True
    """Whether the session's beginning was seen: else it may have more partitions."""

    @property
    def count(self) -> int:
        """Return the number of known partitions."""
        return sum(map(len, self.partitions.values()))

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return weight(tuple(self.partitions)) + ELEMENT * self.count

    def change(
        self, added: Iterable[tuple[Topic, set[int]]], removed: Iterable[tuple[Topic, set[int]]]
    ) -> None:
        """Apply the changes of an incremental request."""
        for topic, partitions in added:
            self.partitions[topic] = self.partitions.get(topic, set()) | partitions
        for topic, partitions in removed:
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
        """Learn from a Fetch, ShareFetch or ShareAcknowledge."""
        if exchange.key == FETCH:
            self._fetch(exchange)
        else:
            self._share(exchange)

    def of(self, exchange: Exchange) -> Session | None:
        """Return the session of an exchange, as known after it; None without one.

        A session whose beginning was not seen is returned, too, and is not `complete`.
        """
        if exchange.key == FETCH:
            for direction in ("response", "request"):
                body = fields(exchange, direction, "session_id") or {}
                if body.get("session_id"):
                    return self.get(Key(exchange.broker, body["session_id"]))
            return None
        if exchange.key in (SHARE_FETCH, SHARE_ACKNOWLEDGE):
            return self.get(_share_key(exchange))
        return None

    def completed(self, broker: int | None, request: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return a request with all partitions of its session, and whether these are all known.

        Args:
            broker: The broker.
            request: The fields of a Fetch or ShareFetch request. Added partitions have their index only.
        """
        share = "share_session_epoch" in request
        if request.get("share_session_epoch" if share else "session_epoch", 0) <= 0:
            return request, True  # it begins or ends a session, or has none
        key = (
            Key(broker, None, request["group_id"], request["member_id"])
            if share
            else Key(broker, request["session_id"])
        )
        session = self.get(key)
        if session is None:
            return request, False
        others = Session(None, dict(session.partitions))
        others.change((), [*_added(request), *_removed(request)])
        index = "partition_index" if share else "partition"
        topics: dict[Topic, dict[str, Any]] = {}
        for each in request["topics"]:
            block = topics.setdefault(_topic(each), {**each, "partitions": []})
            block["partitions"] = [*block["partitions"], *each["partitions"]]
        for topic, partitions in others.partitions.items():
            name = "topic" if isinstance(topic, str) else "topic_id"
            before = topics.get(topic, {name: topic, "partitions": []})
            added = [{index: partition} for partition in sorted(partitions)]
            topics[topic] = {**before, "partitions": [*before["partitions"], *added]}
        return {**request, "topics": [*topics.values()]}, session.complete

    def _fetch(self, exchange: Exchange) -> None:
        request = fields(exchange, "request", *_FETCH_PATHS)
        response = fields(exchange, "response", "error_code", "session_id")
        if not request or not response or "session_id" not in request:
            return  # before v7, or it is unknown whether the broker got the request
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
        """Apply a request: epoch 0 starts a session in place of any old one, -1 ends it."""
        if epoch <= 0:
            self.pop(before, None)
        if epoch == FINAL or after.id == 0:  # 0: the broker's cache is full, so there is no session
            return
        session = Session(after.id) if epoch <= 0 else self.get(before)
        session = session or Session(before.id, complete=False)
        session.change(_added(request), _removed(request))
        self[after if epoch <= 0 else before] = session


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
    request = fields(exchange, "request", "group_id", "member_id") or {}
    return Key(exchange.broker, None, request.get("group_id"), request.get("member_id"))


def _topic(topic: dict[str, Any]) -> Topic:
    return topic["topic"] if "topic" in topic else topic["topic_id"]  # type: ignore[no-any-return]


def _added(request: dict[str, Any]) -> list[tuple[Topic, set[int]]]:
    index = "partition_index" if "share_session_epoch" in request else "partition"
    return [
        (_topic(topic), {partition[index] for partition in topic["partitions"]})
        for topic in request["topics"]
    ]


def _removed(request: dict[str, Any]) -> list[tuple[Topic, set[int]]]:
    return [
        (_topic(topic), set(topic["partitions"]))
        for topic in request.get("forgotten_topics_data") or ()
    ]
