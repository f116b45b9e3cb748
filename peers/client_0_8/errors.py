"""The error codes of 0.8's protocol guide, in its words, and what a client does about them.

The guide says of all of them: "If the client gets an error it should refresh its metadata." That
helps where the metadata were the reason; the others stay what they are, however often they are asked.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class GuideError(NamedTuple):
    """A line of the guide's table. today: the name that Kafka has for the code now."""

    name: str
    code: int
    today: str
    says: str


# fmt: off
ERRORS: Final = (
    GuideError("NoError", 0, "NONE",
        "No error--it worked!"),
    GuideError("Unknown", -1, "UNKNOWN_SERVER_ERROR",
        "An unexpected server error"),
    GuideError("OffsetOutOfRangeCode", 1, "OFFSET_OUT_OF_RANGE",
        "The requested offset is outside the range of offsets maintained by the server"),
    GuideError("InvalidMessageCode", 2, "CORRUPT_MESSAGE",
        "This indicates that a message contents does not match its CRC"),
    GuideError("UnknownTopicOrPartitionCode", 3, "UNKNOWN_TOPIC_OR_PARTITION",
        "This request is for a topic or partition that does not exist on this broker."),
    GuideError("InvalidMessageSizeCode", 4, "INVALID_FETCH_SIZE",
        "The message has a negative size"),
    GuideError("LeaderNotAvailableCode", 5, "LEADER_NOT_AVAILABLE",
        "we are in the middle of a leadership election and there is currently no leader"),
    GuideError("NotLeaderForPartitionCode", 6, "NOT_LEADER_OR_FOLLOWER",
        "the client attempts to send messages to a replica that is not the leader"),
    GuideError("RequestTimedOutCode", 7, "REQUEST_TIMED_OUT",
        "the request exceeds the user-specified time limit in the request."),
    GuideError("BrokerNotAvailableCode", 8, "BROKER_NOT_AVAILABLE",
        "not a client facing error; used only internally by intra-cluster broker communication."),
    GuideError("ReplicaNotAvailableCode", 9, "REPLICA_NOT_AVAILABLE",
        "What is the difference between this and LeaderNotAvailable"),
    GuideError("MessageSizeTooLargeCode", 10, "MESSAGE_TOO_LARGE",
        "the client attempt to produce a message larger than this maximum."),
)
# fmt: on
"""The whole table, in the guide's order."""
