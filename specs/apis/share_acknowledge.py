"""ShareAcknowledge (key 79): a share consumer acknowledges records.

Layout: ShareAcknowledgeRequest.json and ShareAcknowledgeResponse.json of Apache Kafka; KIP-932.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableString,
    Struct,
    Uuid,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import NodeEndpoint

ShareAcknowledge = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "group_id"            / NullableString.default(None),
        "member_id"           / NullableString,
        "share_session_epoch" / Int32,
        "is_renew_ack"        / Bool.since(2),
        "topics"              / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition_index"         / Int32,
                "acknowledgement_batches" / Array(
                    "first_offset"      / Int64,
                    "last_offset"       / Int64,
                    "acknowledge_types" / Array(Int8),
                ),
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms"            / Int32,
        "error_code"                  / Int16,
        "error_message"               / NullableString.default(None),
        "acquisition_lock_timeout_ms" / Int32.since(2),
        "responses"                   / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
                "error_message"   / NullableString.default(None),
                "current_leader"  / Struct(
                    "leader_id"    / Int32,
                    "leader_epoch" / Int32,
                ),
            ),
        ),
        "node_endpoints"              / Array(NodeEndpoint),
    ),
)
