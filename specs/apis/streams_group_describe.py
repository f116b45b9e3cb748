"""StreamsGroupDescribe (key 89): an admin asks for the state of streams groups.

Layout: StreamsGroupDescribeRequest.json and StreamsGroupDescribeResponse.json of Apache Kafka;
KIP-1071.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int8,
    Int16,
    Int32,
    NullableString,
    String,
    Struct,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import (
    Endpoint,
    KeyValue,
    TaskIds,
    TaskOffset,
    TopicInfo,
    TopologyDescription,
)

Assignment = Struct(
    "active_tasks"  / Array(TaskIds),
    "standby_tasks" / Array(TaskIds),
    "warmup_tasks"  / Array(TaskIds),
)

StreamsGroupDescribe = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "group_ids"                     / Array(String),
        "include_authorized_operations" / Bool,
        "include_topology_description"  / Bool.since(1),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "groups"           / Array(
            "error_code"                  / Int16,
            "error_message"               / NullableString.default(None),
            "group_id"                    / String,
            "group_state"                 / String,
            "group_epoch"                 / Int32,
            "assignment_epoch"            / Int32,
            "topology"                    / Struct(
                "epoch"         / Int32,
                "subtopologies" / Array(
                    "subtopology_id"            / String,
                    "source_topics"             / Array(String),
                    "repartition_sink_topics"   / Array(String),
                    "state_changelog_topics"    / Array(TopicInfo),
                    "repartition_source_topics" / Array(TopicInfo),
                ).nullable().default(None),
            ).nullable().default(None),
            "members"                     / Array(
                "member_id"         / String,
                "member_epoch"      / Int32,
                "instance_id"       / NullableString.default(None),
                "rack_id"           / NullableString.default(None),
                "client_id"         / String,
                "client_host"       / String,
                "topology_epoch"    / Int32,
                "process_id"        / String,
                "user_endpoint"     / Endpoint.nullable().default(None),
                "client_tags"       / Array(KeyValue),
                "task_offsets"      / Array(TaskOffset),
                "task_end_offsets"  / Array(TaskOffset),
                "assignment"        / Assignment,
                "target_assignment" / Assignment,
                "is_classic"        / Bool,
            ),
            "authorized_operations"       / Int32.default(-2147483648),
            "topology_description"        / TopologyDescription.since(1).nullable().default(None),
            "topology_description_status" / Int8.since(1),
            "assignor_name"               / NullableString.since(1).default(None),
        ),
    ),
)
