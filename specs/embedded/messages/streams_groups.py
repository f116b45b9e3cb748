"""Records of __consumer_offsets: streams groups (KIP-1071).

Layout: StreamsGroup*Key.json and StreamsGroup*Value.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import Array, Int8, Int32, Int64, NullableString, String, Struct
from barnabas.specs.embedded.messages.groups import of_group, of_member, target_metadata
from barnabas.specs.message import Message
from barnabas.specs.structures import Endpoint, KeyValue, Subtopology, TaskIds

# fmt: off

StreamsGroupMetadataKey = of_group("StreamsGroupMetadataKey")

StreamsGroupMetadataValue = Message(
    "epoch"                    / Int32,
    "metadata_hash"            / Int64,
    "validated_topology_epoch" / Int32.tag(0).default(-1),
    "last_assignment_configs"  / Array(KeyValue).nullable().tag(1),
).of("StreamsGroupMetadataValue", (0, 0), 0)

StreamsGroupMemberMetadataKey = of_member("StreamsGroupMemberMetadataKey")

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

StreamsGroupTargetAssignmentMetadataKey = of_group("StreamsGroupTargetAssignmentMetadataKey")

StreamsGroupTargetAssignmentMetadataValue = target_metadata("StreamsGroupTargetAssignmentMetadataValue")

StreamsGroupTargetAssignmentMemberKey = of_member("StreamsGroupTargetAssignmentMemberKey")

StreamsGroupTargetAssignmentMemberValue = Message(
    "active_tasks"  / Array(TaskIds),
    "standby_tasks" / Array(TaskIds),
    "warmup_tasks"  / Array(TaskIds),
).of("StreamsGroupTargetAssignmentMemberValue", (0, 0), 0)

StreamsGroupCurrentMemberAssignmentKey = of_member("StreamsGroupCurrentMemberAssignmentKey")

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

StreamsGroupTopologyKey = of_group("StreamsGroupTopologyKey")

StreamsGroupTopologyValue = Message(
    "epoch"         / Int32,
    "subtopologies" / Array(Subtopology),
).of("StreamsGroupTopologyValue", (0, 0), 0)
