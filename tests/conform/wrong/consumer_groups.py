"""Wrong answers to the checks of consumer groups of KIP-848."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Final

from barnabas.conform.expectations import AtLeast, Not
from tests.conform.recordings import Wrong
from tests.conform.wrong.commits import commit_error, delete_error, offset
from tests.conform.wrong.groups import error
from tests.conform.wrong.replaced import Anything, replaced

API: Final = "ConsumerGroupHeartbeat"
_ASSIGNED: Final = "assignment.topic_partitions[*]"
_OTHER: Final = uuid.UUID(int=1)

_EPOCHS: Final[dict[str, Wrong]] = {
    "consumer-group/join": replaced(API, "heartbeat_interval_ms", AtLeast(1), 0),
    "consumer-group/member-id": error(API, "INVALID_REQUEST"),
    "consumer-group/keep": replaced(API, "assignment", None, {"topic_partitions": []}, match=2),
    "consumer-group/full-heartbeat": replaced(API, "assignment", Not(None), None, match=1),
    "consumer-group/epoch-too-new": error(API, "FENCED_MEMBER_EPOCH"),
    "consumer-group/epoch-too-old": error(API, "FENCED_MEMBER_EPOCH"),
    "consumer-group/unknown-member": error(API, "UNKNOWN_MEMBER_ID"),
    "consumer-group/unknown-group": error(API, "GROUP_ID_NOT_FOUND"),
    "consumer-group/rejoin": replaced(API, "member_epoch", AtLeast(1), 0),
    "consumer-group/join-with-partitions": error(API, "INVALID_REQUEST"),
    "consumer-group/join-incomplete": error(API, "INVALID_REQUEST"),
    "consumer-group/empty-ids": error(API, "INVALID_REQUEST"),
    "consumer-group/epoch-invalid": error(API, "INVALID_REQUEST"),
    "consumer-group/leave": error(API, "UNKNOWN_MEMBER_ID"),
    "consumer-group/leave-unknown": error(API, "UNKNOWN_MEMBER_ID"),
    "consumer-group/response-lost": replaced(API, "member_epoch", 3, 2, match=1),
}

_ASSIGNMENTS: Final[dict[str, Wrong]] = {
    "consumer-group/shared": replaced(API, f"{_ASSIGNED}.partitions", [1], [0]),
    "consumer-group/revoke-before-assign": replaced(
        API,
        "assignment.topic_partitions",
        [],
        [{"topic_id": _OTHER, "partitions": [1]}],
    ),
    "consumer-group/join-together": replaced(API, f"{_ASSIGNED}.partitions", [0], [1]),
    "consumer-group/subscription-changes": replaced(
        API, f"{_ASSIGNED}.topic_id", Anything(), _OTHER
    ),
    "consumer-group/topic-appears": replaced(API, f"{_ASSIGNED}.partitions", [0], [], late=100),
    "consumer-group/assignor": error(API, "NONE", "UNSUPPORTED_ASSIGNOR"),
    "consumer-group/assignor-unknown": error(API, "UNSUPPORTED_ASSIGNOR"),
    "consumer-group/regex": replaced(API, f"{_ASSIGNED}.topic_id", Anything(), _OTHER),
    "consumer-group/regex-invalid": error(API, "INVALID_REGULAR_EXPRESSION"),
    "consumer-group/static-unreleased": error(API, "UNRELEASED_INSTANCE_ID"),
    "consumer-group/static-restart": replaced(API, f"{_ASSIGNED}.partitions", [1], [0], match=1),
    "consumer-group/static-fenced": error(API, "FENCED_INSTANCE_ID"),
    "consumer-group/static-unknown": error(API, "UNKNOWN_MEMBER_ID"),
    "consumer-group/last-leaves": replaced(API, "member_epoch", AtLeast(3), 2),
}

_OFFSETS: Final[dict[str, Wrong]] = {
    "consumer-group/commit": offset(5, -1),
    "consumer-group/commit-old-version": commit_error("UNSUPPORTED_VERSION"),
    "consumer-group/commit-epoch-too-new": commit_error("STALE_MEMBER_EPOCH"),
    "consumer-group/commit-lost-partition": commit_error("STALE_MEMBER_EPOCH"),
    "consumer-group/commit-kept-partition": commit_error("NONE", "STALE_MEMBER_EPOCH"),
    "consumer-group/commit-stranger": commit_error("UNKNOWN_MEMBER_ID"),
    "consumer-group/commit-during-rebalance": commit_error("NONE", "STALE_MEMBER_EPOCH"),
    "consumer-group/fetch-offsets": replaced(
        "OffsetFetch", "groups[*].error_code", "STALE_MEMBER_EPOCH", "NONE"
    ),
    "consumer-group/fetch-offsets-stranger": replaced(
        "OffsetFetch", "groups[*].error_code", "UNKNOWN_MEMBER_ID", "NONE"
    ),
    "consumer-group/delete-offsets": delete_error("GROUP_SUBSCRIBED_TO_TOPIC"),
    "consumer-group/transaction-without-member": replaced(
        "TxnOffsetCommit",
        "topics[*].partitions[*].error_code",
        "NONE",
        "UNKNOWN_MEMBER_ID",
    ),
}

_DESCRIBE: Final = partial(replaced, "ConsumerGroupDescribe")
_DELETED: Final = partial(replaced, "DeleteGroups", "results[*].error_code")

_ADMIN: Final[dict[str, Wrong]] = {
    "consumer-group/describe": _DESCRIBE("groups[*].assignment_epoch", AtLeast(1), 0),
    "consumer-group/last-leaves-epochs": _DESCRIBE("groups[*].assignment_epoch", AtLeast(1), 0),
    "consumer-group/describe-member-type": _DESCRIBE("groups[*].members[*].member_type", 1, 0),
    "consumer-group/describe-unknown": _DESCRIBE(
        "groups[*].error_code", "GROUP_ID_NOT_FOUND", "NONE"
    ),
    "consumer-group/describe-classic": _DESCRIBE(
        "groups[*].error_code", "GROUP_ID_NOT_FOUND", "NONE"
    ),
    "consumer-group/describe-as-classic": replaced(
        "DescribeGroups", "groups[*].group_state", "Dead", "Stable"
    ),
    "consumer-group/list": replaced("ListGroups", "groups[*].group_type", "consumer", "classic"),
    "consumer-group/delete": _DELETED("NON_EMPTY_GROUP", "NONE"),
    "consumer-group/classic-heartbeat": error("Heartbeat", "UNKNOWN_MEMBER_ID"),
    "consumer-group/from-empty-classic": offset(5, -1),
    "consumer-group/to-classic": error(API, "GROUP_ID_NOT_FOUND"),
    "consumer-group/classic-member": replaced("JoinGroup", "protocol_name", "range", "other"),
}

WRONG: Final[dict[str, Wrong]] = _EPOCHS | _ASSIGNMENTS | _OFFSETS | _ADMIN
