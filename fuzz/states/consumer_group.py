"""The alphabet of a consumer group's member (KIP-848), and of a classic one that tries to enter.

Broker: GroupMetadataManager.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.fuzz.states.alphabet import REFUSED, Alphabet, Answer, Input, Memory, nothing
from barnabas.fuzz.states.commits import COMMITTED, group
from barnabas.specs import keys
from barnabas.specs.groups import CONSUMER_MEMBER, NONE
from barnabas.specs.groups.consumer import BEAT, COMMIT, JOIN, LEAVE, NOBODY


def begins(name: str) -> Memory:
    """Return a new member's memory."""
    return {
        "group_id": group(name),
        "member_id": str(uuid.uuid5(uuid.NAMESPACE_OID, name)),
        "member_epoch": 0,
    }


def _heard(memory: Memory, answer: Answer, error: str) -> None:
    if error == NONE:
        memory["member_epoch"] = max(answer["member_epoch"], 0)


def _classic(memory: Memory) -> Mapping[str, Any]:
    return {
        "group_id": memory["group_id"],
        "member_id": "",
        "session_timeout_ms": 30000,
        "rebalance_timeout_ms": 30000,
    }


def _beat(name: str, epoch: Callable[[int], int], event: str = "") -> Input:
    def fields(memory: Memory) -> Mapping[str, Any]:
        return {**memory, "member_epoch": epoch(memory["member_epoch"])}

    heard = _heard if event in (JOIN, BEAT, LEAVE) else nothing
    return Input(name, keys.CONSUMER_GROUP_HEARTBEAT, fields, heard, event)


def _commit(name: str, epoch: Callable[[int], int], event: str = "", **changes: Any) -> Input:
    def fields(memory: Memory) -> Mapping[str, Any]:
        at = epoch(memory["member_epoch"])
        return {**memory, "generation_id_or_member_epoch": at, **changes}

    return Input(name, keys.OFFSET_COMMIT, fields, event=event, most=9)


def _before(epoch: int) -> int:
    return max(epoch - 1, 1)


CONSUMER_GROUP: Final = Alphabet(
    "consumer-group",
    "a consumer group's member (KIP-848), and a classic member that tries to join",
    (keys.CONSUMER_GROUP_HEARTBEAT,),
    begins,
    (
        _beat("Heartbeat that joins", lambda _: 0, JOIN),
        _beat("Heartbeat", lambda epoch: max(epoch, 1), BEAT),
        _beat("Heartbeat of the last epoch", _before),
        _beat("Heartbeat of the next epoch", lambda epoch: epoch + 1, REFUSED),
        _beat("Heartbeat that leaves", lambda _: -1, LEAVE),
        _commit("OffsetCommit", lambda epoch: max(epoch, 1), COMMIT),
        _commit("OffsetCommit of the last epoch", _before),
        _commit("OffsetCommit of no member", lambda _: -1, NOBODY, member_id=""),
        Input("JoinGroup of a classic member", keys.JOIN_GROUP, _classic),
        Input(
            "DeleteGroups",
            keys.DELETE_GROUPS,
            lambda memory: {"groups_names": [memory["group_id"]]},
        ),
        Input(
            "ConsumerGroupDescribe",
            keys.CONSUMER_GROUP_DESCRIBE,
            lambda memory: {"group_ids": [memory["group_id"]]},
            shown=lambda _, answer: answer["groups"][0]["group_state"],
            sent_before=COMMITTED,
        ),
    ),
    CONSUMER_MEMBER,
    describes="ConsumerGroupDescribe",
)
