"""AddRaftVoter (key 80): an admin adds a voter to the KRaft quorum.

Layout: AddRaftVoterRequest.json and AddRaftVoterResponse.json of Apache Kafka; KIP-853.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, NullableString, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Listener

AddRaftVoter = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "cluster_id"         / NullableString,
        "timeout_ms"         / Int32,
        "voter_id"           / Int32,
        "voter_directory_id" / Uuid,
        "listeners"          / Array(Listener),
        "ack_when_committed" / Bool.since(1).default(True),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
    ),
)
