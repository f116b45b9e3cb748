"""Wrong answers about metadata, describe-cluster, describe-topic-partitions."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Final

from tests.conform.recordings import Wrong, with_fields

OTHER_ID: Final = uuid.UUID(int=7)

WRONG: Final[dict[str, Wrong]] = {
    "metadata/null-is-all": partial(with_fields, "Metadata", 2, {"topics": []}),
    "metadata/empty-is-none": partial(
        with_fields, "Metadata", 2, {"topics": [{"name": "unrequested"}]}
    ),
    "metadata/v0-empty-is-all": partial(with_fields, "Metadata", 2, {"topics": []}),
    "metadata/unknown-topic": partial(with_fields, "Metadata", 1, {"topics[0].error_code": "NONE"}),
    "metadata/auto-create": partial(
        with_fields, "Metadata", 1, {"topics[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "metadata/invalid-name": partial(with_fields, "Metadata", 0, {"topics[0].error_code": "NONE"}),
    "metadata/duplicate-names": partial(
        with_fields, "Metadata", 2, {"topics[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "metadata/by-topic-id": partial(with_fields, "Metadata", 3, {"topics[0].name": "another"}),
    "metadata/unknown-topic-id": partial(
        with_fields, "Metadata", 0, {"topics[0].error_code": "NONE"}
    ),
    "metadata/controller-is-broker": partial(with_fields, "Metadata", 0, {"controller_id": 2}),
    "metadata/cluster-id": partial(with_fields, "DescribeCluster", 0, {"cluster_id": "another"}),
    "metadata/advertised-reachable": partial(
        with_fields, "ApiVersions", 0, {"error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "metadata/leader-in-replicas": partial(
        with_fields, "Metadata", 6, {"topics[0].partitions[0].leader_id": 2}
    ),
    "metadata/partitions": partial(
        with_fields, "Metadata", 5, {"topics[0].partitions[0].partition_index": 1}
    ),
    "metadata/leader-epoch": partial(
        with_fields, "Metadata", 3, {"topics[0].partitions[0].leader_epoch": 1}
    ),
    "metadata/authorized-operations": partial(
        with_fields, "Metadata", 2, {"topics[0].topic_authorized_operations": -2147483647}
    ),
    "metadata/internal-topic": partial(
        with_fields, "Metadata", 0, {"topics[0].is_internal": False}
    ),
    "metadata/topic-id": partial(with_fields, "Metadata", 8, {"topics[0].topic_id": OTHER_ID}),
    "describe-cluster/brokers": partial(with_fields, "DescribeCluster", 0, {"brokers[0].port": 1}),
    "describe-cluster/endpoint-type": partial(
        with_fields, "DescribeCluster", 0, {"error_code": "NONE"}
    ),
    "describe-topic-partitions/cursor": partial(
        with_fields, "DescribeTopicPartitions", 1, {"topics[0].partitions[0].partition_index": 2}
    ),
    "describe-topic-partitions/unknown": partial(
        with_fields, "DescribeTopicPartitions", 0, {"topics[0].error_code": "NONE"}
    ),
}
