"""StreamsGroupTopologyDescriptionUpdate (key 93): a member hands the coordinator a description of
its topology.

Layout: StreamsGroupTopologyDescriptionUpdateRequest.json and
StreamsGroupTopologyDescriptionUpdateResponse.json of Apache Kafka; KIP-1331.
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, NullableString, String, Struct
from barnabas.specs.message import Api, Message

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

StreamsGroupTopologyDescriptionUpdate = Api(
    93,
    "StreamsGroupTopologyDescriptionUpdate",
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
