"""ListOffsets (key 2): asks which offset stands at a time, or at the ends of a partition.

Layout: ListOffsetsRequest.json and ListOffsetsResponse.json of Apache Kafka; v0 answered with a
list of offsets (KIP-79 replaced it).
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

ListOffsets = Api(
    versions=(0, 11),
    flexible=6,
    request=Message(
        "replica_id"      / Int32,
        "isolation_level" / Int8.since(2),
        "topics"          / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index"      / Int32,
                "current_leader_epoch" / Int32.since(4).default(-1),
                "timestamp"            / Int64,
                "max_num_offsets"      / Int32.until(0).default(1),
            ),
        ),
        "timeout_ms"      / Int32.since(10),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(2),
        "topics"           / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index"   / Int32,
                "error_code"        / Int16,
                "old_style_offsets" / Array(Int64).until(0),
                "timestamp"         / Int64.since(1).default(-1),
                "offset"            / Int64.since(1).default(-1),
                "leader_epoch"      / Int32.since(4).default(-1),
            ),
        ),
    ),
)
