"""Records of __cluster_metadata: topics and partitions (KIP-631; ELR: KIP-966).

Layout: the records' definitions in Apache Kafka 4.3.1 (metadata/src/main/resources).
"""

from barnabas.specs.declaration import Array, Int8, Int32, String, Uuid
from barnabas.specs.message import Message

# fmt: off

TopicRecord = Message(
    "name"     / String,
    "topic_id" / Uuid,
).of("TopicRecord", (0, 0), 0)

PartitionRecord = Message(
    "partition_id"             / Int32.default(-1),
    "topic_id"                 / Uuid,
    "replicas"                 / Array(Int32),
    "isr"                      / Array(Int32),
    "removing_replicas"        / Array(Int32),
    "adding_replicas"          / Array(Int32),
    "leader"                   / Int32.default(-1),
    "leader_recovery_state"    / Int8.tag(0),
    "leader_epoch"             / Int32.default(-1),
    "partition_epoch"          / Int32.default(-1),
    "directories"              / Array(Uuid).since(1),
    "eligible_leader_replicas" / Array(Int32).since(2).nullable().tag(1).default(None),
    "last_known_elr"           / Array(Int32).since(2).nullable().tag(2).default(None),
).of("PartitionRecord", (0, 2), 0)

PartitionChangeRecord = Message(
    "partition_id"             / Int32.default(-1),
    "topic_id"                 / Uuid,
    "isr"                      / Array(Int32).nullable().tag(0).default(None),
    "leader"                   / Int32.tag(1).default(-2),
    "replicas"                 / Array(Int32).nullable().tag(2).default(None),
    "removing_replicas"        / Array(Int32).nullable().tag(3).default(None),
    "adding_replicas"          / Array(Int32).nullable().tag(4).default(None),
    "leader_recovery_state"    / Int8.tag(5).default(-1),
    "directories"              / Array(Uuid).since(1).nullable().tag(8).default(None),
    "eligible_leader_replicas" / Array(Int32).since(2).nullable().tag(6).default(None),
    "last_known_elr"           / Array(Int32).since(2).nullable().tag(7).default(None),
).of("PartitionChangeRecord", (0, 2), 0)

RemoveTopicRecord = Message(
    "topic_id" / Uuid,
).of("RemoveTopicRecord", (0, 0), 0)

ClearElrRecord = Message(
    "topic_name" / String,
).of("ClearElrRecord", (0, 0), 0)
