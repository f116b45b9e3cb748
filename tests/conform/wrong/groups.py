"""Wrong answers to the checks of classic groups."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from barnabas.conform.expectations import Not
from barnabas.conform.groups import subscription
from tests.conform.recordings import Wrong
from tests.conform.wrong.replaced import Anything, replaced


def error(api: str, before: str, after: str = "NONE", **options: Any) -> Wrong:
    """Change an error code of responses to an API."""
    return replaced(api, "error_code", before, after, **options)


def member_error(before: str, after: str = "NONE") -> Wrong:
    """Change error codes of members in LeaveGroup responses."""
    return replaced("LeaveGroup", "members[*].error_code", before, after)


def _with_ghost(rows: list[Any]) -> list[Any]:
    return [*rows, {"member_id": "ghost", "group_instance_id": None, "metadata": b""}]


def _listed(check: str) -> Wrong:
    """List the group of a check whatever the filters."""
    row = {
        "group_id": f"conform-recorded-{check}-group-0",
        "protocol_type": "consumer",
        "group_state": "Stable",
        "group_type": "classic",
    }
    return replaced("ListGroups", "groups", Anything(), lambda rows: [*rows, row])


_JOIN: Final[dict[str, Wrong]] = {
    "group/join": replaced("JoinGroup", "leader", Not(""), "another"),
    "group/member-id-required": error("JoinGroup", "MEMBER_ID_REQUIRED"),
    "group/leader-gets-members": replaced("JoinGroup", "members", [], _with_ghost),
    "group/leader-gets-metadata": replaced(
        "JoinGroup", "members[*].metadata", b"b of 1", b"a of 1"
    ),
    "group/generation": replaced("JoinGroup", "generation_id", 2, 3),
    "group/session-timeout-bounds": error("JoinGroup", "INVALID_SESSION_TIMEOUT"),
    "group/unknown-member": error("JoinGroup", "UNKNOWN_MEMBER_ID"),
    "group/empty-id": error("JoinGroup", "INVALID_GROUP_ID"),
    "group/empty-id-of-member": error("Heartbeat", "INVALID_GROUP_ID"),
    "group/id-any": error("JoinGroup", "NONE", "INVALID_GROUP_ID"),
    "group/protocol-preferred": replaced("JoinGroup", "protocol_name", "b", "a"),
    "group/protocol-other": error("JoinGroup", "INCONSISTENT_GROUP_PROTOCOL"),
    "group/protocol-type-other": error("JoinGroup", "INCONSISTENT_GROUP_PROTOCOL"),
    "group/protocol-none": error("JoinGroup", "INCONSISTENT_GROUP_PROTOCOL"),
    "group/protocol-voted": replaced("JoinGroup", "protocol_name", "b", "a"),
    "group/join-waits": replaced("JoinGroup", "generation_id", 2, 3, match=1),
    "group/rebalance-timeout": error("Heartbeat", "UNKNOWN_MEMBER_ID"),
    "group/rejoin-follower": replaced("JoinGroup", "generation_id", 2, 3, match=2),
    "group/rejoin-leader": replaced("JoinGroup", "generation_id", 3, 2),
    "group/rejoin-changed": replaced(
        "JoinGroup",
        "members[*].metadata",
        subscription("another topic"),
        subscription(),
    ),
    "group/join-together": replaced("JoinGroup", "leader", Not(""), "another"),
    "group/join-many": replaced("JoinGroup", "leader", Not(""), "another"),
    "group/join-repeated": replaced("JoinGroup", "members", Not([]), _with_ghost),
    "group/lost-while-joining": replaced("JoinGroup", "members", Not([]), _with_ghost),
    "group/pending-member": error("SyncGroup", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS"),
    "group/pending-leaves": error("JoinGroup", "UNKNOWN_MEMBER_ID"),
}

_SYNC: Final[dict[str, Wrong]] = {
    "group/sync-assignments": replaced("SyncGroup", "assignment", b"of the follower", b""),
    "group/sync-waits": replaced("SyncGroup", "assignment", b"follower", b"leader"),
    "group/sync-wrong-generation": error("SyncGroup", "ILLEGAL_GENERATION"),
    "group/sync-unknown-member": error("SyncGroup", "UNKNOWN_MEMBER_ID"),
    "group/sync-protocol-named": replaced("SyncGroup", "protocol_name", "range", None),
    "group/sync-protocol-other": error("SyncGroup", "INCONSISTENT_GROUP_PROTOCOL"),
    "group/sync-rebalance": error("SyncGroup", "REBALANCE_IN_PROGRESS"),
    "group/sync-interrupted": error("SyncGroup", "REBALANCE_IN_PROGRESS"),
    "group/sync-again": replaced("SyncGroup", "assignment", b"leader", b"new"),
    "group/sync-no-assignment": replaced("SyncGroup", "assignment", b"", b"all"),
    "group/sync-repeated": replaced("SyncGroup", "assignment", b"follower", b""),
    "group/sync-never": error("SyncGroup", "REBALANCE_IN_PROGRESS"),
}

_SESSION: Final[dict[str, Wrong]] = {
    "group/heartbeat": error("Heartbeat", "NONE", "UNKNOWN_MEMBER_ID"),
    "group/heartbeat-old-generation": error("Heartbeat", "ILLEGAL_GENERATION"),
    "group/heartbeat-unknown-member": error("Heartbeat", "UNKNOWN_MEMBER_ID"),
    "group/heartbeat-before-sync": error("Heartbeat", "NONE", "REBALANCE_IN_PROGRESS"),
    "group/heartbeat-rebalance": error("Heartbeat", "REBALANCE_IN_PROGRESS", match=2),
    "group/session-expires": error("Heartbeat", "UNKNOWN_MEMBER_ID"),
    "group/reconnect": error("Heartbeat", "NONE", "UNKNOWN_MEMBER_ID"),
    "group/session-kept": error("Heartbeat", "NONE", "UNKNOWN_MEMBER_ID"),
    "group/leave": error("Heartbeat", "UNKNOWN_MEMBER_ID"),
    "group/leave-unknown": member_error("UNKNOWN_MEMBER_ID"),
    "group/leave-several": member_error("UNKNOWN_MEMBER_ID"),
    "group/leave-rebalances": replaced("JoinGroup", "generation_id", 3, 2),
    "group/leave-while-joining": replaced("JoinGroup", "leader", Not(""), "another"),
    "group/rejoin-after-leave": replaced("JoinGroup", "members", Not([]), _with_ghost),
}

_STATIC: Final[dict[str, Wrong]] = {
    "group/static-joins-at-once": error("JoinGroup", "NONE", "MEMBER_ID_REQUIRED"),
    "group/static-instance-shown": replaced("JoinGroup", "members[*].group_instance_id", "i", None),
    "group/static-replaces": replaced("SyncGroup", "assignment", b"follower", b""),
    "group/static-no-rebalance": error("Heartbeat", "NONE", "REBALANCE_IN_PROGRESS"),
    "group/static-fenced": error("Heartbeat", "FENCED_INSTANCE_ID"),
    "group/static-leader-skips-assignment": replaced("JoinGroup", "skip_assignment", True, False),
    "group/static-leave": member_error("NONE", "UNKNOWN_MEMBER_ID"),
    "group/static-leave-unknown": member_error("UNKNOWN_MEMBER_ID"),
    "group/static-leave-fenced": member_error("FENCED_INSTANCE_ID"),
}

_OFFSET: Final = "groups[*].topics[*].partitions[*].committed_offset"

_STATE: Final = partial(replaced, "DescribeGroups", "groups[*].group_state")

_ADMIN: Final[dict[str, Wrong]] = {
    "group/describe-unknown": _STATE("Dead", "Empty"),
    "group/describe-stable": replaced(
        "DescribeGroups", "groups[*].members[*].member_assignment", b"all", b""
    ),
    "group/describe-states": _STATE("Empty", "Dead"),
    "group/describe-preparing": _STATE("PreparingRebalance", "Stable"),
    "group/describe-operations": replaced(
        "DescribeGroups", "groups[*].authorized_operations", -(2**31), 0
    ),
    "group/describe-instance": replaced(
        "DescribeGroups", "groups[*].members[*].group_instance_id", "i", None
    ),
    "group/describe-several": _STATE("Dead", "Empty"),
    "group/list": replaced("ListGroups", "groups[*].group_state", "Stable", ""),
    "group/list-states": _listed("group-list-states"),
    "group/list-types": _listed("group-list-types"),
    "group/delete": replaced("OffsetFetch", _OFFSET, -1, 5),
    "group/list-unknown-state": _listed("group-list-states"),
    "group/delete-non-empty": replaced(
        "DeleteGroups", "results[*].error_code", "NON_EMPTY_GROUP", "NONE"
    ),
    "group/delete-unknown": replaced(
        "DeleteGroups", "results[*].error_code", "GROUP_ID_NOT_FOUND", "NONE"
    ),
    "group/delete-several": replaced(
        "DeleteGroups", "results[*].error_code", "GROUP_ID_NOT_FOUND", "NONE"
    ),
    "group/session-timeout-limits": replaced(
        "JoinGroup", "error_code", "INVALID_SESSION_TIMEOUT", "NONE", match=1
    ),
}

WRONG: Final[dict[str, Wrong]] = _JOIN | _SYNC | _SESSION | _STATIC | _ADMIN
