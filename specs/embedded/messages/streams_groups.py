"""Records of __consumer_offsets: streams groups (KIP-1071).

Layout: StreamsGroup*Key.json and StreamsGroup*Value.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import (
    FOREVER,
    Array,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
    UInt16,
)
from barnabas.specs.message import Message

# fmt: off

StreamsGroupMetadataKey = Message(
    "group_id" / String,
).of("StreamsGroupMetadataKey", (0, 0), FOREVER)

LastAssignmentConfig = Struct(
    "key"   / String,
    "value" / String,
)

StreamsGroupMetadataValue = Message(
    "epoch"                    / Int32,
    "metadata_hash"            / Int64,
    "validated_topology_epoch" / Int32.tag(0).default(-1),
    "last_assignment_configs"  / Array(LastAssignmentConfig).nullable().tag(1),
).of("StreamsGroupMetadataValue", (0, 0), 0)

StreamsGroupMemberMetadataKey = Message(
    "group_id"  / String,
    "member_id" / String,
).of("StreamsGroupMemberMetadataKey", (0, 0), FOREVER)

Endpoint = Struct(
    "host" / String,
    "port" / UInt16,
)

KeyValue = Struct(
    "key"   / String,
    "value" / String,
)

StreamsGroupMemberMetadataValue = Message(
    "instance_id"          / NullableString,
    "rack_id"              / NullableString,
    "client_id"            / String,
    "client_host"          / String,
    "rebalance_timeout_ms" / Int32.default(-1),
    "topology_epoch"       / Int32,
    "process_id"           / String,
    "user_endpoint"        / Endpoint.nullable().default(None),
    "client_tags"          / Array(KeyValue),
).of("StreamsGroupMemberMetadataValue", (0, 0), 0)

StreamsGroupTargetAssignmentMetadataKey = Message(
    "group_id" / String,
).of("StreamsGroupTargetAssignmentMetadataKey", (0, 0), FOREVER)

StreamsGroupTargetAssignmentMetadataValue = Message(
    "assignment_epoch"     / Int32,
    "assignment_timestamp" / Int64.tag(0),
).of("StreamsGroupTargetAssignmentMetadataValue", (0, 0), 0)

StreamsGroupTargetAssignmentMemberKey = Message(
    "group_id"  / String,
    "member_id" / String,
).of("StreamsGroupTargetAssignmentMemberKey", (0, 0), FOREVER)

TaskIds = Struct(
    "subtopology_id" / String,
    "partitions"     / Array(Int32),
)

StreamsGroupTargetAssignmentMemberValue = Message(
    "active_tasks"  / Array(TaskIds),
    "standby_tasks" / Array(TaskIds),
    "warmup_tasks"  / Array(TaskIds),
).of("StreamsGroupTargetAssignmentMemberValue", (0, 0), 0)

StreamsGroupCurrentMemberAssignmentKey = Message(
    "group_id"  / String,
    "member_id" / String,
).of("StreamsGroupCurrentMemberAssignmentKey", (0, 0), FOREVER)

TaskIdsAndEpochs = Struct(
    "subtopology_id"    / String,
    "partitions"        / Array(Int32),
    "assignment_epochs" / Array(Int32).nullable().tag(0),
)

StreamsGroupCurrentMemberAssignmentValue = Message(
    "member_epoch"                     / Int32,
    "previous_member_epoch"            / Int32,
    "state"                            / Int8,
    "active_tasks"                     / Array(TaskIdsAndEpochs),
    "standby_tasks"                    / Array(TaskIdsAndEpochs),
    "warmup_tasks"                     / Array(TaskIdsAndEpochs),
    "active_tasks_pending_revocation"  / Array(TaskIdsAndEpochs),
    "standby_tasks_pending_revocation" / Array(TaskIdsAndEpochs),
    "warmup_tasks_pending_revocation"  / Array(TaskIdsAndEpochs),
).of("StreamsGroupCurrentMemberAssignmentValue", (0, 0), 0)

StreamsGroupTopologyKey = Message(
    "group_id" / String,
).of("StreamsGroupTopologyKey", (0, 0), FOREVER)

TopicConfig = Struct(
    "key"   / String,
    "value" / String,
)

TopicInfo = Struct(
    "name"               / String,
    "partitions"         / Int32,
    "replication_factor" / Int16,
    "topic_configs"      / Array(TopicConfig),
)

StreamsGroupTopologyValue = Message(
    "epoch"         / Int32,
    "subtopologies" / Array(
        "subtopology_id"            / String,
        "source_topics"             / Array(String),
        "source_topic_regex"        / Array(String),
        "state_changelog_topics"    / Array(TopicInfo),
        "repartition_sink_topics"   / Array(String),
        "repartition_source_topics" / Array(TopicInfo),
        "copartition_groups"        / Array(
            "source_topics"             / Array(Int16),
            "source_topic_regex"        / Array(Int16),
            "repartition_source_topics" / Array(Int16),
        ),
    ),
).of("StreamsGroupTopologyValue", (0, 0), 0)
