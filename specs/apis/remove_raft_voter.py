"""RemoveRaftVoter (key 81): an admin removes a voter from the KRaft quorum.

Layout: RemoveRaftVoterRequest.json and RemoveRaftVoterResponse.json of Apache Kafka; KIP-853.
"""

from barnabas.specs.declaration import Int16, Int32, NullableString, Uuid
from barnabas.specs.message import Api, Message

RemoveRaftVoter = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "cluster_id"         / NullableString,
        "voter_id"           / Int32,
        "voter_directory_id" / Uuid,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
    ),
)
