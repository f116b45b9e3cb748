"""Messages that Kafka writes to files.

Layout: AbortedTxn.json (in .txnindex, after an int16 version) and QuorumStateData.json (quorum-state has its
fields as JSON) of Apache Kafka.
"""

from barnabas.specs.declaration import FOREVER, Array, Int32, Int64, String, Uuid
from barnabas.specs.message import Message

# fmt: off

AbortedTxn = Message(
    "producer_id"        / Int64,
    "first_offset"       / Int64,
    "last_offset"        / Int64,
    "last_stable_offset" / Int64,
).of("AbortedTxn", (0, 0), FOREVER)

QuorumStateData = Message(
    "cluster_id"         / String.until(0),
    "leader_id"          / Int32.default(-1),
    "leader_epoch"       / Int32.default(-1),
    "voted_id"           / Int32.default(-1),
    "voted_directory_id" / Uuid.since(1),
    "applied_offset"     / Int64.until(0),
    "current_voters"     / Array(
        "voter_id" / Int32,
    ).until(0).nullable(),
).of("QuorumStateData", (0, 1), 0)
