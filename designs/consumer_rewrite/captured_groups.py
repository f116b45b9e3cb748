"""The consumer rewrite's messages, in the words of Kafka's classic groups, which they became.

JoinGroup brings the assignment: nobody leads, and there is no SyncGroup. The coordinator answers all that
join at once, so the first of them that goes on shows who they are. A heartbeat is told to join again by
IllegalGeneration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.group_messages import GroupMessage, unanswered
from barnabas.captures.kafka.context.memory import BYTES, MOST, Memory, Weighed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.consumer_rewrite.captured_steps import Step, step
from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from barnabas.designs.consumer_rewrite.states import ILLEGAL_GENERATION, UNKNOWN_CONSUMER
from barnabas.designs.limits import MEMBERS
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.groups.table import NONE
from barnabas.specs.keys import HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, OFFSET_COMMIT, SYNC_GROUP

_KEYS: Final = {
    "JoinGroup": JOIN_GROUP,
    "Heartbeat": HEARTBEAT,
    "OffsetCommit": OFFSET_COMMIT,
    "LeaveGroup": LEAVE_GROUP,
}
_OWN: Final = {own_key(REWRITE_0_8_2, REWRITE_0_8_2.api(name)): key for name, key in _KEYS.items()}
_ERRORS: Final = {
    NONE: "",
    UNKNOWN_CONSUMER: "UNKNOWN_MEMBER_ID",
    ILLEGAL_GENERATION: "REBALANCE_IN_PROGRESS",
}


@dataclass(slots=True)
class _Joined:
    """Who has joined a generation of which nobody has gone on."""

    generation: int
    end: int
    """When the last one had its answer."""
    members: Weighed[str] | None = field(default_factory=Weighed)
    """None: too many."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return 0 if self.members is None else self.members.weight


class RewriteGroups:
    """Reads exchanges in the order in which they end."""

    def __init__(self, bytes_: int = BYTES) -> None:
        self._joined: Memory[str, _Joined] = Memory(MOST, bytes_)

    @property
    def forgotten(self) -> int:
        """Groups that were forgotten because there were too many."""
        return self._joined.forgotten

    def of(self, exchange: Exchange) -> Iterator[GroupMessage]:
        """What it says of a group."""
        request = exchange.request if exchange.key in _OWN else None
        if request is None:
            return
        seen = step(exchange)
        if seen is None:
            yield unanswered(exchange, request["group_id"], request["consumer_id"])
            return
        one = _message(exchange, seen)
        if one.key == JOIN_GROUP and not one.error:
            self._join(one)
        yield one
        if one.key in (HEARTBEAT, OFFSET_COMMIT) and not one.error:
            yield from self._goes_on(one)

    def _join(self, one: GroupMessage) -> None:
        number = one.response["generation_id"]
        joined = self._joined.get(one.group)
        if joined is None or joined.generation < number:
            joined = _Joined(number, one.end)
        if joined.members is not None:
            joined.members.append(one.response["member_id"])
            if joined.members.weight > MEMBERS:
                joined.members = None
        joined.end = max(joined.end, one.end)
        self._joined[one.group] = joined

    def _goes_on(self, one: GroupMessage) -> Iterator[GroupMessage]:
        joined = self._joined.get(one.group)
        if joined is not None and joined.generation == one.request["generation_id"]:
            del self._joined[one.group]
            told = {"members": [{"member_id": member} for member in joined.members or ()]}
            yield one._replace(key=SYNC_GROUP, response=told, end=joined.end, partitions=())


def _message(exchange: Exchange, seen: Step) -> GroupMessage:
    asked, came = seen.request, seen.response
    request = {
        **asked,
        "member_id": asked["consumer_id"],
        "generation_id": asked.get("group_generation_id", -1),
        "session_timeout_ms": asked.get("session_timeout", 0),
    }
    response = {
        "error_code": came.get("error_code", 0),
        "member_id": came.get("consumer_id", ""),
        "generation_id": came.get("group_generation_id"),
        "protocol_name": asked.get("partition_assignment_strategy"),
        "leader": "",
        "members": [],
    }
    about = exchange, asked["group_id"], request, response, seen.end, _KEYS[seen.api]
    error = _ERRORS.get(seen.answer, seen.answer)
    return GroupMessage(*about, error, exchange.ts, REWRITE_0_8_2.name, _partitions(seen))


def _partitions(seen: Step) -> tuple[tuple[str, int | str, int], ...]:
    if seen.api == "OffsetCommit":
        refused = {
            (about["topic"], one["partition"])
            for about in seen.response["responses"]
            for one in about["partition_responses"]
            if one["error_code"]
        }
        return tuple(
            (about["topic"], one["partition"], one["offset"])
            for about in seen.request["topics"]
            for one in about["partitions"]
            if (about["topic"], one["partition"]) not in refused
        )
    return tuple(
        (about["topic"], number, -1)
        for about in seen.response.get("assigned_partitions", ())
        for number in about["partitions"]
    )
