"""ListGroups (key 16): an admin asks a broker for the groups that it coordinates.

Layout: ListGroupsRequest.json and ListGroupsResponse.json of Apache Kafka; states from v4
(KIP-518), types from v5 (KIP-848).
"""

from barnabas.specs.declaration import Array, Int16, Int32, String
from barnabas.specs.message import Api, Message

ListGroups = Api(
    versions=(0, 5),
    flexible=3,
    request=Message(
        "states_filter" / Array(String).since(4),
        "types_filter"  / Array(String).since(5),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "error_code"       / Int16,
        "groups"           / Array(
            "group_id"      / String,
            "protocol_type" / String,
            "group_state"   / String.since(4),
            "group_type"    / String.since(5),
        ),
    ),
)
