"""Members of the groups of KIP-848, KIP-932 and KIP-1071: their heartbeats say only what changed.

A member begins with epoch 0 and says all; null later means as before. A negative epoch leaves.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.kafka.context.memory import Memory, weight
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange

CONSUMER: Final = 68
SHARE: Final = 76
STREAMS: Final = 88
KEYS: Final = (CONSUMER, SHARE, STREAMS)
"""Who teaches them."""

GONE: Final = (25, 69, 110)
"""UNKNOWN_MEMBER_ID, GROUP_ID_NOT_FOUND, FENCED_MEMBER_EPOCH: the member has to begin anew."""


@dataclass(slots=True)
class Member:
    """What is known of a member. None: it was said before anybody listened."""

    group: str
    id: str
    epoch: int
    subscribed: tuple[str, ...] | None = None
    """Names of topics; () of a member that has none, or only a pattern."""
    pattern: str | None = None
    """The regular expression that it is subscribed to, as far as it was seen."""
    assigned: dict[uuid.UUID | str, tuple[int, ...]] | None = None
    """Partitions by topic id, or of a Streams member active tasks by subtopology."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return weight((self.subscribed, self.pattern, self.assigned))


class Members(Memory[tuple[str, str], Member]):
    """All members that were heard, by group and member id."""

    def learn(self, exchange: Exchange) -> None:
        """Take what a group heartbeat says."""
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
        """The member whose heartbeat this is, as it is known after it; None for all else."""
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
    """In v0 a member may begin without an id and be given one."""
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
