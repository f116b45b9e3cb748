"""The error codes of 0.8's protocol guide, in its words.

The guide says of all of them: "If the client gets an error it should refresh its metadata." That helps
only if stale metadata were the reason.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple


class Error(IntEnum):
    """The error codes of 0.8.2.2's brokers, by the names that Kafka uses today.

    >>> Error.NOT_LEADER_OR_FOLLOWER == 6
    True
    """

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20


class GuideError(NamedTuple):
    """A row of the guide's table of errors."""

    name: str
    error: Error
    says: str


# fmt: off
ERRORS: Final = (
    GuideError("NoError", Error.NONE,
        "No error--it worked!"),
    GuideError("Unknown", Error.UNKNOWN_SERVER_ERROR,
        "An unexpected server error"),
    GuideError("OffsetOutOfRangeCode", Error.OFFSET_OUT_OF_RANGE,
        "The requested offset is outside the range of offsets maintained by the server"),
    GuideError("InvalidMessageCode", Error.CORRUPT_MESSAGE,
        "This indicates that a message contents does not match its CRC"),
    GuideError("UnknownTopicOrPartitionCode", Error.UNKNOWN_TOPIC_OR_PARTITION,
        "This request is for a topic or partition that does not exist on this broker."),
    GuideError("InvalidMessageSizeCode", Error.INVALID_FETCH_SIZE,
        "The message has a negative size"),
    GuideError("LeaderNotAvailableCode", Error.LEADER_NOT_AVAILABLE,
        "we are in the middle of a leadership election and there is currently no leader"),
    GuideError("NotLeaderForPartitionCode", Error.NOT_LEADER_OR_FOLLOWER,
        "the client attempts to send messages to a replica that is not the leader"),
    GuideError("RequestTimedOutCode", Error.REQUEST_TIMED_OUT,
        "the request exceeds the user-specified time limit in the request."),
    GuideError("BrokerNotAvailableCode", Error.BROKER_NOT_AVAILABLE,
        "not a client facing error; used only internally by intra-cluster broker communication."),
    GuideError("ReplicaNotAvailableCode", Error.REPLICA_NOT_AVAILABLE,
        "What is the difference between this and LeaderNotAvailable"),
    GuideError("MessageSizeTooLargeCode", Error.MESSAGE_TOO_LARGE,
        "the client attempt to produce a message larger than this maximum."),
)
# fmt: on
"""The rows, in the guide's order."""
