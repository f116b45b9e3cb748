"""StreamsGroupHeartbeat (key 88): a streams group's member joins, beats, learns its tasks and leaves.

Layout: StreamsGroupHeartbeatRequest.json and StreamsGroupHeartbeatResponse.json of Apache Kafka;
KIP-1071; its user endpoints are not brokers' addresses.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import (
    Endpoint,
    KeyValue,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicPartitionsByName,
)

Status = Struct(
    "status_code"   / Int8,
    "status_detail" / String,
)

StreamsGroupHeartbeat = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "group_id"                   / String,
        "member_id"                  / String,
        "member_epoch"               / Int32,
        "endpoint_information_epoch" / Int32,
        "instance_id"                / NullableString.default(None),
        "rack_id"                    / NullableString.default(None),
        "rebalance_timeout_ms"       / Int32.default(-1),
        "topology"                   / Struct(
            "epoch"         / Int32,
            "subtopologies" / Array(Subtopology),
        ).nullable().default(None),
        "active_tasks"               / Array(TaskIds).nullable().default(None),
        "standby_tasks"              / Array(TaskIds).nullable().default(None),
        "warmup_tasks"               / Array(TaskIds).nullable().default(None),
        "process_id"                 / NullableString.default(None),
        "user_endpoint"              / Endpoint.nullable().default(None),
        "client_tags"                / Array(KeyValue).nullable().default(None),
        "task_offsets"               / Array(TaskOffset).nullable().default(None),
        "task_end_offsets"           / Array(TaskOffset).nullable().default(None),
        "shutdown_application"       / Bool,
    ),
    response=Message(
        "throttle_time_ms"               / Int32,
        "error_code"                     / Int16,
        "error_message"                  / NullableString.default(None),
        "member_id"                      / String,
        "member_epoch"                   / Int32,
        "heartbeat_interval_ms"          / Int32,
        "acceptable_recovery_lag_legacy" / Int32.until(0),
        "task_offset_interval_ms"        / Int32,
        "acceptable_recovery_lag"        / Int64.since(1).default(-1),
        "status"                         / Array(Status).nullable(),
        "active_tasks"                   / Array(TaskIds).nullable().default(None),
        "standby_tasks"                  / Array(TaskIds).nullable().default(None),
        "warmup_tasks"                   / Array(TaskIds).nullable().default(None),
        "topology_description_required"  / Bool.since(1),
        "endpoint_information_epoch"     / Int32,
        "partitions_by_user_endpoint"    / Array(
            "user_endpoint"      / Endpoint,
            "active_partitions"  / Array(TopicPartitionsByName),
            "standby_partitions" / Array(TopicPartitionsByName),
        ).nullable().default(None),
    ),
)
