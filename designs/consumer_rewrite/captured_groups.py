"""The consumer rewrite's messages, in terms of Kafka's classic groups, which followed it.

JoinGroup has the assignment: there is no leader and no SyncGroup. The coordinator responds to all JoinGroups
of a generation at once, so the first member that continues completes the list of members. A heartbeat is told
to join again by IllegalGeneration.
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
    """The members of a generation that no member has continued yet."""

    generation: int
    end: int
    """The time of the last response."""
    members: Weighed[str] | None = field(default_factory=Weighed)
    """None: too many."""

    @property
    def weight(self) -> int:
        """Return approximately the bytes that it takes."""
        return 0 if self.members is None else self.members.weight


class RewriteGroups:
    """Reads exchanges in the order in which they end."""

    def __init__(self, bytes_: int = BYTES) -> None:
        self._joined: Memory[str, _Joined] = Memory(MOST, bytes_)

    @property
    def forgotten(self) -> int:
        """Return the number of groups that were dropped because there were too many."""
        return self._joined.forgotten

    def of(self, exchange: Exchange) -> Iterator[GroupMessage]:
        """Yield the group messages of an exchange."""
        request = exchange.request if exchange.key in _OWN else None
        if request is None:
            return
        message = step(exchange)
        if message is None:
            yield unanswered(exchange, request["group_id"], request["consumer_id"])
            return
        group_message = _message(exchange, message)
        if group_message.key == JOIN_GROUP and not group_message.error:
            self._join(group_message)
        yield group_message
        if group_message.key in (HEARTBEAT, OFFSET_COMMIT) and not group_message.error:
            yield from self._complete_generation(group_message)

    def _join(self, joined_message: GroupMessage) -> None:
        number = joined_message.response["generation_id"]
        joined = self._joined.get(joined_message.group)
        if joined is None or joined.generation < number:
            joined = _Joined(number, joined_message.end)
        if joined.members is not None:
            joined.members.append(joined_message.response["member_id"])
            if joined.members.weight > MEMBERS:
                joined.members = None
        joined.end = max(joined.end, joined_message.end)
        self._joined[joined_message.group] = joined

    def _complete_generation(self, group_message: GroupMessage) -> Iterator[GroupMessage]:
        joined = self._joined.get(group_message.group)
        if joined is not None and joined.generation == group_message.request["generation_id"]:
            del self._joined[group_message.group]
            response = {"members": [{"member_id": member} for member in joined.members or ()]}
            yield group_message._replace(
                key=SYNC_GROUP, response=response, end=joined.end, partitions=()
            )


def _message(exchange: Exchange, step: Step) -> GroupMessage:
    request_body, came = step.request, step.response
    request = {
        **request_body,
        "member_id": request_body["consumer_id"],
        "generation_id": request_body.get("group_generation_id", -1),
        "session_timeout_ms": request_body.get("session_timeout", 0),
    }
    response = {
        "error_code": came.get("error_code", 0),
        "member_id": came.get("consumer_id", ""),
        "generation_id": came.get("group_generation_id"),
        "protocol_name": request_body.get("partition_assignment_strategy"),
        "leader": "",
        "members": [],
    }
    common = exchange, request_body["group_id"], request, response, step.end, _KEYS[step.api]
    error = _ERRORS.get(step.answer, step.answer)
    return GroupMessage(*common, error, exchange.ts, REWRITE_0_8_2.name, _partitions(step))


def _partitions(step: Step) -> tuple[tuple[str, int | str, int], ...]:
    if step.api == "OffsetCommit":
        refused = {
            (topic["topic"], partition["partition"])
            for topic in step.response["responses"]
            for partition in topic["partition_responses"]
            if partition["error_code"]
        }
        return tuple(
            (topic["topic"], partition["partition"], partition["offset"])
            for topic in step.request["topics"]
            for partition in topic["partitions"]
            if (topic["topic"], partition["partition"]) not in refused
        )
    return tuple(
        (topic["topic"], number, -1)
        for topic in step.response.get("assigned_partitions", ())
        for number in topic["partitions"]
    )
