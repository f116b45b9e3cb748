"""Wrong answers about metadata, describe-cluster, describe-topic-partitions."""

from __future__ import annotations

import uuid
from typing import Final

from tests.conform.recordings import Wrong, with_fields

OTHER_ID: Final = uuid.UUID(int=7)

WRONG: Final[dict[str, Wrong]] = {
    "metadata/null-is-all": with_fields("Metadata", -1, {"topics": []}),
    "metadata/empty-is-none": with_fields("Metadata", -1, {"topics": [{"name": "unrequested"}]}),
    "metadata/v0-empty-is-all": with_fields("Metadata", -1, {"topics": []}),
    "metadata/unknown-topic": with_fields("Metadata", 1, {"topics[0].error_code": "NONE"}),
    "metadata/auto-create": with_fields(
        "Metadata", 1, {"topics[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "metadata/invalid-name": with_fields("Metadata", 0, {"topics[0].error_code": "NONE"}),
    "metadata/duplicate-names": with_fields(
        "Metadata", -1, {"topics[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "metadata/by-topic-id": with_fields("Metadata", -1, {"topics[0].name": "another"}),
    "metadata/unknown-topic-id": with_fields("Metadata", 0, {"topics[0].error_code": "NONE"}),
    "metadata/controller-is-broker": with_fields("Metadata", 0, {"controller_id": 2}),
    "metadata/cluster-id": with_fields("DescribeCluster", 0, {"cluster_id": "another"}),
    "metadata/advertised-reachable": with_fields(
        "ApiVersions", 0, {"error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "metadata/leader-in-replicas": with_fields(
        "Metadata", -1, {"topics[0].partitions[0].leader_id": 2}
    ),
    "metadata/partitions": with_fields(
        "Metadata", -1, {"topics[0].partitions[0].partition_index": 1}
    ),
    "metadata/leader-epoch": with_fields(
        "Metadata", -2, {"topics[0].partitions[0].leader_epoch": 1}
    ),
    "metadata/authorized-operations": with_fields(
        "Metadata", -2, {"topics[0].topic_authorized_operations": -2147483647}
    ),
    "metadata/internal-topic": with_fields("Metadata", 0, {"topics[0].is_internal": True}),
    "metadata/topic-id": with_fields("Metadata", -1, {"topics[0].topic_id": OTHER_ID}),
    "describe-cluster/brokers": with_fields("DescribeCluster", 0, {"brokers[0].port": 1}),
    "describe-cluster/endpoint-type": with_fields("DescribeCluster", 0, {"error_code": "NONE"}),
    "describe-topic-partitions/cursor": with_fields(
        "DescribeTopicPartitions", 1, {"topics[0].partitions[0].partition_index": 2}
    ),
    "describe-topic-partitions/unknown": with_fields(
        "DescribeTopicPartitions", 0, {"topics[0].error_code": "NONE"}
    ),
    "metadata/partial-failure": with_fields("Metadata", -1, {"topics": []}),
}
