"""Keys and values of control records.

Layout: ControlRecordTypeSchema.json, EndTxnMarker.json (KIP-98), LeaderChangeMessage.json (KIP-595),
Snapshot*Record.json (KIP-630), KRaftVersionRecord.json and VotersRecord.json (KIP-853) of Apache Kafka.
`barnabas.specs.embedded.control_records` reads them.
"""

from barnabas.specs.declaration import FOREVER, Array, Int16, Int32, Int64, Struct, Uuid
from barnabas.specs.message import Message
from barnabas.specs.structures import Listener

# fmt: off

ControlRecordTypeSchema = Message(
    "type" / Int16,
).of("ControlRecordTypeSchema", (0, 0), FOREVER)

EndTxnMarker = Message(
    "coordinator_epoch" / Int32,
).of("EndTxnMarker", (0, 0), FOREVER)

Voter = Struct(
    "voter_id"           / Int32,
    "voter_directory_id" / Uuid.since(1),
)

LeaderChangeMessage = Message(
    "version"         / Int16.releases(since="3.0"),
    "leader_id"       / Int32,
    "voters"          / Array(Voter),
    "granting_voters" / Array(Voter).releases(since="2.8"),
).of("LeaderChangeMessage", (0, 1), 0)

SnapshotHeaderRecord = Message(
    "version"                      / Int16,
    "last_contained_log_timestamp" / Int64,
).of("SnapshotHeaderRecord", (0, 0), 0)

SnapshotFooterRecord = Message(
    "version" / Int16,
).of("SnapshotFooterRecord", (0, 0), 0)

KRaftVersionRecord = Message(
    "version"       / Int16,
    "kraft_version" / Int16,
).of("KRaftVersionRecord", (0, 0), 0)

VotersRecord = Message(
    "version" / Int16,
    "voters"  / Array(
        "voter_id"              / Int32,
        "voter_directory_id"    / Uuid,
        "endpoints"             / Array(Listener),
        "kraft_version_feature" / Struct(
            "min_supported_version" / Int16,
            "max_supported_version" / Int16,
        ),
    ),
).of("VotersRecord", (0, 0), 0)
