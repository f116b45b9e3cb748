"""Records of __share_group_state: the records that share groups have acquired and acknowledged (KIP-932).

Layout: ShareSnapshotKey/Value.json and ShareUpdateKey/Value.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import FOREVER, Array, Int32, Int64, String, Uuid
from barnabas.specs.message import Message
from barnabas.specs.structures import StateBatch

# fmt: off

ShareSnapshotKey = Message(
    "group_id"  / String,
    "topic_id"  / Uuid,
    "partition" / Int32,
).of("ShareSnapshotKey", (0, 0), FOREVER)

ShareSnapshotValue = Message(
    "snapshot_epoch"          / Int32,
    "state_epoch"             / Int32,
    "leader_epoch"            / Int32,
    "start_offset"            / Int64,
    "delivery_complete_count" / Int32.tag(0).default(-1),
    "create_timestamp"        / Int64,
    "write_timestamp"         / Int64,
    "state_batches"           / Array(StateBatch),
).of("ShareSnapshotValue", (0, 0), 0)

ShareUpdateKey = ShareSnapshotKey.of("ShareUpdateKey", (0, 0), FOREVER)

ShareUpdateValue = Message(
    "snapshot_epoch"          / Int32,
    "leader_epoch"            / Int32,
    "start_offset"            / Int64,
    "delivery_complete_count" / Int32.tag(0).default(-1),
    "state_batches"           / Array(StateBatch),
).of("ShareUpdateValue", (0, 0), 0)
