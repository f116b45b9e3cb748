"""Which versions of an API can report an error that Kafka added later.

The comments of Kafka's message definitions name most of these versions, such as EndTxnResponse.json:
"Version 2 adds the support for new error code PRODUCER_FENCED". The others have the field that the error is
about: the leader epoch (KIP-320), the group instance id (KIP-345), the topic id (KIP-516). Errors without an
entry are as old as their API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIRST_VERSIONS: Final[Mapping[str, Mapping[str, int]]] = {
    "FENCED_INSTANCE_ID": {
        "JoinGroup": 5,
        "SyncGroup": 3,
        "Heartbeat": 3,
        "LeaveGroup": 3,
        "OffsetCommit": 7,
        "TxnOffsetCommit": 3,
    },
    "FENCED_LEADER_EPOCH": {"Fetch": 9, "ListOffsets": 4, "OffsetForLeaderEpoch": 2},
    "FENCED_MEMBER_EPOCH": {"OffsetCommit": 7},
    "GROUP_ID_NOT_FOUND": {"OffsetCommit": 9, "DescribeGroups": 6},
    "INVALID_REGULAR_EXPRESSION": {"ConsumerGroupHeartbeat": 1},
    "KAFKA_STORAGE_ERROR": {"Produce": 4, "Fetch": 6},
    "MEMBER_ID_REQUIRED": {"JoinGroup": 4},
    "OFFSET_MOVED_TO_TIERED_STORAGE": {"Fetch": 14},
    "OFFSET_NOT_AVAILABLE": {"ListOffsets": 5},
    "PRODUCER_FENCED": {
        "InitProducerId": 4,
        "AddPartitionsToTxn": 2,
        "AddOffsetsToTxn": 2,
        "EndTxn": 2,
    },
    "STALE_MEMBER_EPOCH": {"OffsetCommit": 9, "OffsetFetch": 9},
    "THROTTLING_QUOTA_EXCEEDED": {"CreateTopics": 6, "DeleteTopics": 5, "CreatePartitions": 3},
    "TOPIC_DELETION_DISABLED": {"DeleteTopics": 3},
    "TRANSACTION_ABORTABLE": {
        "Produce": 11,
        "FindCoordinator": 5,
        "InitProducerId": 5,
        "AddPartitionsToTxn": 5,
        "AddOffsetsToTxn": 4,
        "EndTxn": 4,
        "TxnOffsetCommit": 4,
    },
    "UNKNOWN_LEADER_EPOCH": {"Fetch": 9, "ListOffsets": 4, "OffsetForLeaderEpoch": 2},
    "UNKNOWN_TOPIC_ID": {
        "Produce": 13,
        "Fetch": 13,
        "OffsetCommit": 10,
        "OffsetFetch": 10,
        "DeleteTopics": 6,
        "Metadata": 10,
    },
    "UNSTABLE_OFFSET_COMMIT": {"OffsetFetch": 7},
}
"""Error -> API -> the first version that can report it."""
