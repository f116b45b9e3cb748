"""Exceptions that a broker may log when it gets bad input, with reasons. All others are bugs.

Allowed is what Apache Kafka throws in order to report it to the client (org.apache.kafka.common.errors: each
class has an error code), what rejects bytes that are no request, and what concerns connections. Exceptions of
the language (NullPointerException and so on), Errors and Scala's exceptions are never intended.
"""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.observations.java_stacks import JavaException

PREFIXES: Final = (
    ("org.apache.kafka.common.errors.", "each has an error code that the client is told"),
    ("java.io.", "the connection, or compressed data that end too early"),
    ("java.net.", "the connection"),
    ("java.nio.channels.", "the connection"),
    ("javax.net.ssl.", "the connection"),
    ("org.apache.zookeeper.", "the broker's own session"),
    ("kafka.zookeeper.", "the broker's own session"),
)
"""(prefix of the class's name, why it is allowed)."""

_OLD_CODES: Final = (
    "BrokerNotAvailable", "ClusterAuthorization", "ConsumerCoordinatorNotAvailable", "ControllerMoved",
    "GroupAuthorization", "InvalidMessageSize", "InvalidTopic", "LeaderNotAvailable",
    "MessageSetSizeTooLarge", "MessageSizeTooLarge", "NotAssignedReplica",
    "NotCoordinatorForConsumer", "NotEnoughReplicas", "NotEnoughReplicasAfterAppend", "NotLeaderForPartition",
    "OffsetMetadataTooLarge", "OffsetOutOfRange", "OffsetsLoadInProgress", "ReplicaNotAvailable",
    "RequestTimedOut", "TopicAlreadyMarkedForDeletion", "TopicAuthorization", "TopicExists",
    "UnknownTopicOrPartition",
)  # fmt: skip
"""Classes of kafka.common before 1.0 (ErrorMapping). Others there, such as OffsetsOutOfOrderException, report
a problem of a log or a controller."""

CLASSES: Final = {
    **{f"kafka.common.{name}Exception": "has an error code (before 1.0)" for name in _OLD_CODES},
    "kafka.common.KafkaException": "bytes that are not a request or message (before 1.0)",
    "kafka.common.InvalidRequestException": "the same",
    "kafka.common.UnknownCodecException": "the same",
    "kafka.common.UnknownMagicByteException": "the same",
    "kafka.common.RecordValidationException": "wraps one that has an error code (to 2.8)",
    "kafka.common.StateChangeFailedException": "no leader can be elected, as was asked for (ZooKeeper)",
    "kafka.common.LogCleaningAbortedException": "a topic goes while it is cleaned",
    "kafka.common.ThreadShutdownException": "the broker's end",
    "org.apache.kafka.server.common.AdminOperationException": "what a topic can't be (3.x, ZooKeeper)",
    "org.apache.kafka.common.network.InvalidReceiveException": "a size that no request has",
    "org.apache.kafka.common.protocol.types.SchemaException": "bytes that no layout reads",
    "org.apache.kafka.common.record.InvalidRecordException": "records that break the format (to 2.3)",
    "org.apache.kafka.common.InvalidRecordException": "records that break the format (from 2.4)",
    "org.apache.kafka.common.requests.CorrelationIdMismatchException": "the broker as a client",
    "java.util.concurrent.TimeoutException": "a busy machine",
    "java.util.concurrent.CompletionException": "wraps what a future came to: that is judged",
    "java.util.concurrent.CancellationException": "the broker's own requests, at its end",
}
"""Class -> why it is allowed."""

IN_PARSING: Final = {
    "java.lang.RuntimeException": "what generated readers throw: invalid length, null, trailing tag",
    "java.nio.BufferUnderflowException": "the bytes end too early",
    "java.lang.IndexOutOfBoundsException": "ByteBuffer.get beyond the end",
    "java.lang.IllegalArgumentException": "ByteBuffer.limit beyond the end; an unknown key (to 2.0)",
    "java.lang.ArrayIndexOutOfBoundsException": "a version that the API lacks (to 1.0)",
    "org.apache.kafka.common.KafkaException": "what readers of records throw",
}
"""Class -> why it is allowed as the cause of an exception in REFUSING."""

REFUSING: Final = frozenset(
    (
        "org.apache.kafka.common.errors.InvalidRequestException",
        "org.apache.kafka.common.errors.UnsupportedVersionException",
        "org.apache.kafka.common.protocol.types.SchemaException",
        "kafka.common.InvalidRequestException",
    )
)
"""Classes that reject bytes that are no request."""

HANDLED: Final = {
    ("java.lang.IllegalArgumentException", "org.apache.kafka.server.share.SharePartitionKey.getInstance"):
        "KafkaApis logs it, and tells the client INVALID_REQUEST",
}  # fmt: skip
"""Class and innermost frame -> why it is allowed, though it is logged with its stack."""


def allowed(chain: tuple[JavaException, ...]) -> bool:
    """Return whether an exception and its causes (the outermost first) are allowed for bad input."""
    if chain and chain[-1].signature[:2] in HANDLED:
        return True
    refused = False
    for exception in chain:
        if exception.name in REFUSING:
            refused = True
        elif _plain(exception.name) or (refused and exception.name in IN_PARSING):
            continue
        else:
            return False
    return True


def _plain(name: str) -> bool:
    return name in CLASSES or any(name.startswith(prefix) for prefix, _ in PREFIXES)
