"""UpdateRaftVoter (key 82): a voter tells the KRaft leader its endpoints and versions.

Layout: UpdateRaftVoterRequest.json and UpdateRaftVoterResponse.json of Apache Kafka; KIP-853.
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String, Struct, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Listener

UpdateRaftVoter = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "cluster_id"            / NullableString,
        "current_leader_epoch"  / Int32,
        "voter_id"              / Int32,
        "voter_directory_id"    / Uuid,
        "listeners"             / Array(Listener),
        "kraft_version_feature" / Struct(
            "min_supported_version" / Int16,
            "max_supported_version" / Int16,
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "current_leader"   / Struct(
            "leader_id"    / Int32.default(-1),
            "leader_epoch" / Int32.default(-1),
            "host"         / String,
            "port"         / Int32,
        ).tag(0),
    ),
)
