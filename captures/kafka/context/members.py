"""Track members of the groups of KIP-848, KIP-932 and KIP-1071, whose heartbeats only have changes.

A member starts with epoch 0 and sends everything; null later means unchanged. A negative epoch leaves the
group.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import Memory, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import (
    CONSUMER_GROUP_HEARTBEAT,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_HEARTBEAT,
)

KEYS: Final = (CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT)
"""The APIs that reveal them."""

GONE: Final = (25, 69, 110)
"""UNKNOWN_MEMBER_ID, GROUP_ID_NOT_FOUND, FENCED_MEMBER_EPOCH: the member has to join again."""


@dataclass(slots=True)
class Member:
    """A member of a group, as far as it is known. None: sent before the context started."""

    group: str
    id: str
    epoch: int
    subscribed: tuple[str, ...] | None = None
    """Topic names; () for a member without any, or with only a pattern."""
    pattern: str | None = None
    """The regular expression of its subscription, if one was seen."""
    assigned: dict[uuid.UUID | str, tuple[int, ...]] | None = None
    """Partitions by topic id; of a Streams member active tasks by subtopology."""

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return weight((self.subscribed, self.pattern, self.assigned))


class Members(Memory[tuple[str, str], Member]):
    """All known members, by group and member id."""

    def learn(self, exchange: Exchange) -> None:
        """Learn from a group heartbeat."""
        request = fields(exchange, "request", *_ASKED)
        response = fields(exchange, "response", *_ANSWERED)
        if not request or not response:
            return
        key = _key(request, response)
        if response["error_code"] in GONE or request["member_epoch"] < 0:
            self.pop(key, None)
            return
        if response["error_code"]:
            return
        begins = request["member_epoch"] == 0
        member = None if begins else self.get(key)
        if member is None:
            member = Member(*key, 0, (), None, {}) if begins else Member(*key, 0)
        member.epoch = response["member_epoch"]
        if request.get("subscribed_topic_names") is not None:
            member.subscribed = tuple(request["subscribed_topic_names"])
        if request.get("subscribed_topic_regex") is not None:
            member.pattern = request["subscribed_topic_regex"]
        assigned = _assigned(response)
        if assigned is not None:
            member.assigned = assigned
        self[key] = member

    def of(self, exchange: Exchange) -> Member | None:
        """Return the member that sent a heartbeat, as known after it; None for other exchanges."""
        if exchange.key not in KEYS:
            return None
        request = fields(exchange, "request", "group_id", "member_id")
        response = fields(exchange, "response", "member_id")
        return self.get(_key(request, response or {})) if request else None


_ASKED: Final = (
    "group_id",
    "member_id",
    "member_epoch",
    "subscribed_topic_names",
    "subscribed_topic_regex",
)
_ANSWERED: Final = ("error_code", "member_id", "member_epoch", "assignment", "active_tasks")


def _key(request: dict[str, Any], response: dict[str, Any]) -> tuple[str, str]:
    """Return group and member id; in v0, a new member without an id gets it with the response."""
    return request["group_id"], response.get("member_id") or request["member_id"]


def _assigned(response: dict[str, Any]) -> dict[uuid.UUID | str, tuple[int, ...]] | None:
    if response.get("assignment") is not None:
        return {
            topic["topic_id"]: tuple(topic["partitions"])
            for topic in response["assignment"]["topic_partitions"]
        }
    if response.get("active_tasks") is not None:
        return {
            task["subtopology_id"]: tuple(task["partitions"]) for task in response["active_tasks"]
        }
    return None
