"""Wrong answers about topics."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Final

from tests.conform.recordings import Wrong, with_fields

OTHER_ID: Final = uuid.UUID(int=7)

WRONG: Final[dict[str, Wrong]] = {
    "topics/create-exists": partial(
        with_fields, "CreateTopics", 1, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-zero-partitions": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-default-partitions": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "topics/create-too-many-replicas": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-invalid-name": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-colliding-name": partial(
        with_fields, "CreateTopics", 1, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-invalid-config": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-unknown-config": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-validate-only": partial(
        with_fields, "Metadata", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-twice-in-request": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-count-and-assignments": partial(
        with_fields, "CreateTopics", 0, {"topics[0].error_code": "NONE"}
    ),
    "topics/create-assignments": partial(
        with_fields, "Metadata", 1, {"topics[0].partitions[0].partition_index": 1}
    ),
    "topics/create-id": partial(with_fields, "Metadata", 0, {"topics[0].topic_id": OTHER_ID}),
    "topics/create-configs": partial(with_fields, "CreateTopics", 0, {"topics[0].configs": []}),
    "topics/delete": partial(with_fields, "Metadata", 3, {"topics[0].error_code": "NONE"}),
    "topics/delete-unknown": partial(
        with_fields, "DeleteTopics", 0, {"responses[0].error_code": "NONE"}
    ),
    "topics/delete-by-id": partial(
        with_fields, "DeleteTopics", 0, {"responses[0].name": "another"}
    ),
    "topics/recreate": partial(
        with_fields, "Fetch", 0, {"responses[0].partitions[0].high_watermark": 2}
    ),
    "topics/partitions-grow": partial(with_fields, "Metadata", 3, {"topics[0].partitions": []}),
    "topics/partitions-shrink": partial(
        with_fields, "CreatePartitions", 1, {"results[0].error_code": "NONE"}
    ),
    "topics/partitions-unknown": partial(
        with_fields, "CreatePartitions", 0, {"results[0].error_code": "NONE"}
    ),
    "topics/elect-unneeded": partial(
        with_fields,
        "ElectLeaders",
        0,
        {
            "replica_election_results[0].partition_result[0].error_code": "UNKNOWN_TOPIC_OR_PARTITION"
        },
    ),
    "topics/reassignments-none": partial(
        with_fields, "ListPartitionReassignments", 0, {"topics": [{"name": "another"}]}
    ),
}
