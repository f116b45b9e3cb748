"""StreamsGroupTopologyDescriptionUpdate (key 93): a member describes its topology.

Layout: StreamsGroupTopologyDescriptionUpdateRequest.json and
StreamsGroupTopologyDescriptionUpdateResponse.json of Apache Kafka; KIP-1331.
"""

from barnabas.specs.declaration import Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import TopologyDescription

StreamsGroupTopologyDescriptionUpdate = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "group_id"             / String,
        "member_id"            / String,
        "topology_epoch"       / Int32,
        "topology_description" / TopologyDescription,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString.default(None),
    ),
)
