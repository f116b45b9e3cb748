"""Structures that several messages share, with the same fields in every version."""

from barnabas.specs.declaration import (
    Array,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
    UInt16,
    Uuid,
)

# fmt: off

TopicPartitions = Struct(
    "topic_id"   / Uuid,
    "partitions" / Array(Int32),
)

NamedTopicPartitions = Struct(
    "topic_id"   / Uuid,
    "topic_name" / String,
    "partitions" / Array(Int32),
)

TopicPartitionsByName = Struct(
    "topic"      / String,
    "partitions" / Array(Int32),
)

NodeEndpoint = Struct(
    "node_id" / Int32,
    "host"    / String,
    "port"    / Int32,
    "rack"    / NullableString.default(None),
)

# of the KRaft quorum

QuorumNodeEndpoint = Struct(
    "node_id" / Int32,
    "host"    / String,
    "port"    / UInt16,
)

QuorumTopic = Struct(
    "topic_name" / String,
    "partitions" / Array(
        "partition_index" / Int32,
        "error_code"      / Int16,
        "leader_id"       / Int32,
        "leader_epoch"    / Int32,
    ),
)

Listener = Struct(
    "name" / String,
    "host" / String,
    "port" / UInt16,
)

SecuredListener = Struct(
    "name"              / String,
    "host"              / String,
    "port"              / UInt16,
    "security_protocol" / Int16,
)

Feature = Struct(
    "name"                  / String,
    "min_supported_version" / Int16,
    "max_supported_version" / Int16,
)

# of quotas

Entity = Struct(
    "entity_type" / String,
    "entity_name" / NullableString,
)

# of share groups

StateBatch = Struct(
    "first_offset"   / Int64,
    "last_offset"    / Int64,
    "delivery_state" / Int8,
    "delivery_count" / Int16,
)

StateResult = Struct(
    "topic_id"   / Uuid,
    "partitions" / Array(
        "partition"     / Int32,
        "error_code"    / Int16,
        "error_message" / NullableString.default(None),
    ),
)

# of streams groups

Endpoint = Struct(
    "host" / String,
    "port" / UInt16,
)

KeyValue = Struct(
    "key"   / String,
    "value" / String,
)

TaskIds = Struct(
    "subtopology_id" / String,
    "partitions"     / Array(Int32),
)

TaskOffset = Struct(
    "subtopology_id" / String,
    "partition"      / Int32,
    "offset"         / Int64,
)

TopicInfo = Struct(
    "name"               / String,
    "partitions"         / Int32,
    "replication_factor" / Int16,
    "topic_configs"      / Array(KeyValue),
)

Subtopology = Struct(
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
)

TopologyDescriptionNode = Struct(
    "name"          / String,
    "node_type"     / Int8,
    "source_topics" / Array(String),
    "sink_topic"    / NullableString.default(None),
    "stores"        / Array(String),
    "successors"    / Array(String),
)

TopologyDescriptionSubtopology = Struct(
    "subtopology_id" / String,
    "nodes"          / Array(TopologyDescriptionNode),
)

TopologyDescriptionGlobalStore = Struct(
    "source"    / TopologyDescriptionNode,
    "processor" / TopologyDescriptionNode,
)

TopologyDescription = Struct(
    "subtopologies" / Array(TopologyDescriptionSubtopology),
    "global_stores" / Array(TopologyDescriptionGlobalStore),
)
