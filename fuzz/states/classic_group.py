"""The alphabet of a classic group's only member, from its JoinGroup to the group's end.

Brokers: GroupCoordinator; since 4.0 GroupMetadataManager.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.states.alphabet import REFUSED, Alphabet, Answer, Input, Memory
from barnabas.fuzz.states.commits import COMMITTED, group
from barnabas.specs import keys
from barnabas.specs.groups import CLASSIC_MEMBER, NONE
from barnabas.specs.groups.classic import NOBODY

KNOWN_TO_ALL: Final = 5
"""The newest DescribeGroups that reports a missing group without an error (KIP-1043)."""


def _begins(name: str) -> Memory:
    return {"group_id": group(name), "member_id": "", "generation_id": -1}


def _member(memory: Memory, **changes: Any) -> Mapping[str, Any]:
    """Return a member's fields, with a generation of at least 0.

    A generation of -1 would mean a client that stores offsets without a group.
    """
    fields = {**memory, "generation_id": max(memory["generation_id"], 0), **changes}
    return {**fields, "generation_id_or_member_epoch": fields["generation_id"]}


def _join(memory: Memory) -> Mapping[str, Any]:
    return {**memory, "session_timeout_ms": 30000, "rebalance_timeout_ms": 30000}


def _joined(memory: Memory, answer: Answer, error: str) -> None:
    if error in (NONE, "MEMBER_ID_REQUIRED"):
        memory["member_id"] = answer["member_id"]
    if error == NONE:
        memory["generation_id"] = answer["generation_id"]


def _sync(memory: Memory) -> Mapping[str, Any]:
    assigned = b"\0\0\0\0\0\0\xff\xff\xff\xff"
    assignments = [{"member_id": memory["member_id"], "assignment": assigned}]
    return _member(memory, assignments=assignments)


def _leave(memory: Memory) -> Mapping[str, Any]:
    return {**memory, "members": [{"member_id": memory["member_id"]}]}


def _left(memory: Memory, _: Answer, error: str) -> None:
    if error == NONE:
        memory.update(member_id="", generation_id=-1)


def _last_generation(memory: Memory) -> Mapping[str, Any]:
    return _member(memory, generation_id=max(memory["generation_id"] - 1, 0))


def _nobody(memory: Memory) -> Mapping[str, Any]:
    return _member(memory, member_id="", generation_id=-1)


def _state(_: Memory, answer: Answer) -> str:
    return str(answer["groups"][0]["group_state"])


CLASSIC_GROUP: Final = Alphabet(
    "classic-group",
    "a classic group's only member",
    (keys.JOIN_GROUP, keys.SYNC_GROUP),
    _begins,
    (
        Input("JoinGroup", keys.JOIN_GROUP, _join, _joined, "JoinGroup"),
        Input("SyncGroup", keys.SYNC_GROUP, _sync, event="SyncGroup"),
        Input("Heartbeat", keys.HEARTBEAT, _member, event="Heartbeat"),
        Input("Heartbeat of the last generation", keys.HEARTBEAT, _last_generation, event=REFUSED),
        Input("OffsetCommit", keys.OFFSET_COMMIT, _member, event="OffsetCommit", most=9),
        Input(
            "OffsetCommit of the last generation",
            keys.OFFSET_COMMIT,
            _last_generation,
            event=REFUSED,
            most=9,
        ),
        Input("OffsetCommit of no member", keys.OFFSET_COMMIT, _nobody, event=NOBODY, most=9),
        Input("LeaveGroup", keys.LEAVE_GROUP, _leave, _left, "LeaveGroup"),
        Input("OffsetDelete", keys.OFFSET_DELETE, lambda memory: {"group_id": memory["group_id"]}),
        Input(
            "DeleteGroups",
            keys.DELETE_GROUPS,
            lambda memory: {"groups_names": [memory["group_id"]]},
        ),
        Input(
            "DescribeGroups",
            keys.DESCRIBE_GROUPS,
            lambda memory: {"groups": [memory["group_id"]]},
            shown=_state,
            sent_before=COMMITTED,
            most=KNOWN_TO_ALL,
        ),
    ),
    CLASSIC_MEMBER,
    describes="DescribeGroups",
)
