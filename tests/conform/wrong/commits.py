"""Wrong answers to the checks of coordinators and committed offsets."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.conform.expectations import Not
from tests.conform.recordings import Wrong
from tests.conform.wrong.groups import error
from tests.conform.wrong.replaced import Anything, replaced

FETCHED: Final = "groups[*].topics[*].partitions[*]"


def commit_error(before: str, after: str = "NONE") -> Wrong:
    """Change error codes of partitions in OffsetCommit responses."""
    return replaced("OffsetCommit", "topics[*].partitions[*].error_code", before, after)


def offset(before: int, after: int, **options: Any) -> Wrong:
    """Change committed offsets in OffsetFetch responses."""
    path = f"{FETCHED}.committed_offset"
    return replaced("OffsetFetch", path, before, after, **options)


def fetch_error(before: str, after: str = "NONE") -> Wrong:
    """Change error codes of partitions in OffsetFetch responses."""
    return replaced("OffsetFetch", f"{FETCHED}.error_code", before, after)


def delete_error(before: str, after: str = "NONE") -> Wrong:
    """Change error codes of partitions in OffsetDelete responses."""
    return replaced("OffsetDelete", "topics[*].partitions[*].error_code", before, after)


def coordinator_error(before: str, after: str = "NONE") -> Wrong:
    """Change error codes in FindCoordinator responses."""
    return replaced("FindCoordinator", "coordinators[*].error_code", before, after)


def _first_twice(rows: list[Any]) -> list[Any]:
    return [*rows, rows[0]]


_PARTITIONS: Final = "groups[*].topics[*].partitions"

_TOPIC_WITH_OFFSET: Final = {
    "topic_id": uuid.UUID(int=1),
    "partitions": [
        {
            "partition_index": 0,
            "committed_offset": 5,
            "committed_leader_epoch": -1,
            "metadata": "",
            "error_code": 0,
        }
    ],
}

WRONG: Final[dict[str, Wrong]] = {
    "coordinator/find": replaced("FindCoordinator", "coordinators[*].port", Not(0), 1),
    "coordinator/find-transaction": replaced(
        "FindCoordinator", "coordinators[*].node_id", Anything(), -1
    ),
    "coordinator/same": replaced(
        "FindCoordinator", "coordinators[*].node_id", Anything(), 99, match=1
    ),
    "coordinator/elsewhere": error("JoinGroup", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID"),
    "coordinator/several-keys": replaced(
        "FindCoordinator", "coordinators", Anything(), lambda rows: rows[:1]
    ),
    "coordinator/bad-type": coordinator_error("INVALID_REQUEST"),
    "coordinator/share-key": coordinator_error("INVALID_REQUEST"),
    "commit/kept": replaced("OffsetFetch", f"{FETCHED}.metadata", "hello", ""),
    "commit/metadata-null": replaced("OffsetFetch", f"{FETCHED}.metadata", "", None),
    "commit/metadata-too-large": commit_error("OFFSET_METADATA_TOO_LARGE"),
    "commit/leader-epoch-kept": replaced("OffsetFetch", f"{FETCHED}.committed_leader_epoch", 0, -1),
    "commit/replaces": offset(3, 9),
    "commit/beyond-end": offset(2**62, 0),
    "commit/unknown-partition": commit_error("UNKNOWN_TOPIC_OR_PARTITION"),
    "commit/unknown-topic": commit_error("UNKNOWN_TOPIC_OR_PARTITION"),
    "commit/unknown-topic-id": commit_error("UNKNOWN_TOPIC_ID"),
    "commit/response-complete": replaced(
        "OffsetCommit", "topics[*].partitions", Anything(), lambda rows: rows[1:]
    ),
    "commit/pipelined": offset(9, 8),
    "commit/two-at-once": offset(6, -1),
    "commit/member": offset(5, -1),
    "commit/old-generation": commit_error("ILLEGAL_GENERATION"),
    "commit/stranger": commit_error("UNKNOWN_MEMBER_ID"),
    "commit/nobody-in-live-group": commit_error("UNKNOWN_MEMBER_ID"),
    "commit/unknown-group-generation": commit_error("GROUP_ID_NOT_FOUND"),
    "commit/empty-group": offset(5, -1),
    "commit/during-rebalance": commit_error("NONE", "REBALANCE_IN_PROGRESS"),
    "commit/before-sync": commit_error("REBALANCE_IN_PROGRESS"),
    "commit/fenced-instance": commit_error("FENCED_INSTANCE_ID"),
    "offset-fetch/none": offset(-1, 0),
    "offset-fetch/none-metadata": replaced("OffsetFetch", f"{FETCHED}.metadata", "", None),
    "offset-fetch/version": offset(5, -1),
    "offset-fetch/all": replaced("OffsetFetch", _PARTITIONS, Anything(), lambda rows: rows[1:]),
    "offset-fetch/no-duplicates": replaced("OffsetFetch", _PARTITIONS, Anything(), _first_twice),
    "offset-fetch/each-partition": replaced(
        "OffsetFetch", _PARTITIONS, Anything(), lambda rows: rows[1:]
    ),
    "offset-fetch/empty": replaced("OffsetFetch", "groups[*].topics", [], [_TOPIC_WITH_OFFSET]),
    "offset-fetch/several-groups": offset(6, 5),
    "offset-fetch/live-group": offset(5, -1),
    "offset-fetch/unknown-topic": fetch_error("NONE", "UNKNOWN_TOPIC_OR_PARTITION"),
    "offset-fetch/unknown-topic-id": fetch_error("UNKNOWN_TOPIC_ID"),
    "offset-fetch/require-stable": fetch_error("UNSTABLE_OFFSET_COMMIT"),
    "offset-delete/empty-group": offset(-1, 5),
    "offset-delete/subscribed": delete_error("GROUP_SUBSCRIBED_TO_TOPIC"),
    "offset-delete/not-subscribed": delete_error("NONE", "GROUP_SUBSCRIBED_TO_TOPIC"),
    "offset-delete/other-protocol-type": error("OffsetDelete", "NON_EMPTY_GROUP"),
    "offset-delete/unknown-group": error("OffsetDelete", "GROUP_ID_NOT_FOUND"),
    "offset-delete/unknown-partition": delete_error("UNKNOWN_TOPIC_OR_PARTITION"),
    "offset-delete/nothing-committed": delete_error("NONE", "UNKNOWN_TOPIC_OR_PARTITION"),
    "commit/largest-metadata": commit_error("OFFSET_METADATA_TOO_LARGE"),
    "offset-fetch/unknown-group": replaced(
        "OffsetFetch", "groups[*].error_code", "NONE", "GROUP_ID_NOT_FOUND"
    ),
}
