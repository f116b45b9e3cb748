"""Wrong answers about topics."""

from __future__ import annotations

import uuid
from typing import Any, Final

from tests.conform.recordings import Wrong, with_body, with_fields

OTHER_ID: Final = uuid.UUID(int=7)


def _another_partition(body: Any) -> None:
    rows = body["topics"][0]["partitions"]
    rows.append({**rows[0], "partition_index": 1})


WRONG: Final[dict[str, Wrong]] = {
    "topics/create-exists": with_fields("CreateTopics", 1, {"topics[0].error_code": "NONE"}),
    "topics/create-zero-partitions": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-default-partitions": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "topics/create-too-many-replicas": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-invalid-name": with_fields("CreateTopics", 0, {"topics[0].error_code": "NONE"}),
    "topics/create-colliding-name": with_fields(
        "CreateTopics", 1, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-invalid-config": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-unknown-config": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-validate-only": with_fields("Metadata", 0, {"topics[0].error_code": "NONE"}),
    "topics/create-twice-in-request": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-count-and-assignments": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-assignments": with_fields(
        "Metadata", -1, {"topics[0].partitions[0].partition_index": 1}
    ),
    "topics/create-id": with_fields("Metadata", -1, {"topics[0].topic_id": OTHER_ID}),
    "topics/create-configs": with_fields("CreateTopics", 0, {"topics[0].configs": []}),
    "topics/delete": with_fields("Metadata", -1, {"topics[0].error_code": "NONE"}),
    "topics/delete-unknown": with_fields("DeleteTopics", 0, {"responses[0].error_code": "NONE"}),
    "topics/delete-by-id": with_fields("DeleteTopics", 0, {"responses[0].name": "another"}),
    "topics/recreate": with_fields("Fetch", 0, {"responses[0].partitions[0].high_watermark": 2}),
    "topics/partitions-grow": with_fields("Metadata", -1, {"topics[0].partitions": []}),
    "topics/partitions-shrink": with_fields(
        "CreatePartitions", 1, {"results[0].error_code": "NONE"}
    ),
    "topics/partitions-unknown": with_fields(
        "CreatePartitions", 0, {"results[0].error_code": "NONE"}
    ),
    "topics/elect-unneeded": with_fields(
        "ElectLeaders",
        0,
        {
            "replica_election_results[0].partition_result[0].error_code": "UNKNOWN_TOPIC_OR_PARTITION"
        },
    ),
    "topics/reassignments-none": with_fields(
        "ListPartitionReassignments", 0, {"topics": [{"name": "another"}]}
    ),
    "topics/create-several": with_fields(
        "CreateTopics", -1, {"topics[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "topics/create-zero-replicas": with_fields("CreateTopics", 0, {"topics[0].error_code": "NONE"}),
    "topics/create-negative-partitions": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-empty-name": with_fields("CreateTopics", 0, {"topics[0].error_code": "NONE"}),
    "topics/create-assigned-nobody": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-assigned-gap": with_fields("CreateTopics", 0, {"topics[0].error_code": "NONE"}),
    "topics/longest-name": with_fields(
        "CreateTopics", 0, {"topics[0].error_code": "INVALID_TOPIC_EXCEPTION"}
    ),
    "topics/delete-several": with_fields(
        "DeleteTopics", 0, {"responses[1].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "topics/delete-twice-in-request": with_fields(
        "DeleteTopics", 0, {"responses[0].error_code": "NONE"}
    ),
    "topics/partitions-several": with_fields("CreatePartitions", 0, {"results": []}),
    "topics/partitions-validate-only": with_body("Metadata", -1, _another_partition),
    "topics/partitions-assigned": with_fields(
        "CreatePartitions", 0, {"results[0].error_code": "NONE"}
    ),
    "topics/partitions-twice-in-request": with_fields(
        "CreatePartitions", 0, {"results[0].error_code": "NONE"}
    ),
    "topics/reassign-unknown": with_fields(
        "AlterPartitionReassignments", 0, {"responses[0].partitions[0].error_code": "NONE"}
    ),
    "topics/reassign-cancel-none": with_fields(
        "AlterPartitionReassignments", 0, {"responses[0].partitions[0].error_code": "NONE"}
    ),
    "topics/reassign-nobody": with_fields(
        "AlterPartitionReassignments", 0, {"responses[0].partitions[0].error_code": "NONE"}
    ),
    "topics/elect-unknown": with_fields(
        "ElectLeaders", 0, {"replica_election_results[0].partition_result[0].error_code": "NONE"}
    ),
}
