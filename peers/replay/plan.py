"""Which recorded exchanges are sent to a live cluster, and why the others are not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.specs.keys import FETCH
from barnabas.specs.registry import NAMES, key_of
from barnabas.specs.secrets import redact

HANDSHAKES: Final = frozenset(map(key_of, ("ApiVersions", "SaslHandshake", "SaslAuthenticate")))
"""What whoever connects does by itself."""

TELEMETRY: Final = frozenset(map(key_of, ("GetTelemetrySubscriptions", "PushTelemetry")))

SHARING: Final = frozenset(map(key_of, ("ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge")))
"""What members of share groups ask (KIP-932). A broker lends each of them records that nobody else has then,
so what one acknowledged it may not have been lent now, and another one waits for it in vain."""

SENT: Final = frozenset(
    map(
        key_of,
        (
            "Produce",
            "Fetch",
            "ListOffsets",
            "Metadata",
            "OffsetCommit",
            "OffsetFetch",
            "FindCoordinator",
            "JoinGroup",
            "Heartbeat",
            "LeaveGroup",
            "SyncGroup",
            "DescribeGroups",
            "ListGroups",
            "InitProducerId",
            "OffsetForLeaderEpoch",
            "AddPartitionsToTxn",
            "AddOffsetsToTxn",
            "EndTxn",
            "TxnOffsetCommit",
            "DescribeCluster",
            "ConsumerGroupHeartbeat",
            "ConsumerGroupDescribe",
            "DescribeTopicPartitions",
        ),
    )
)
"""APIs of clients that read, produce and manage their groups."""

NEVER: Final = frozenset(
    map(
        key_of,
        (
            "LeaderAndIsr",
            "StopReplica",
            "UpdateMetadata",
            "ControlledShutdown",
            "WriteTxnMarkers",
            "Vote",
            "BeginQuorumEpoch",
            "EndQuorumEpoch",
            "AlterPartition",
            "Envelope",
            "FetchSnapshot",
            "BrokerRegistration",
            "BrokerHeartbeat",
            "AllocateProducerIds",
            "AssignReplicasToDirs",
            "ControllerRegistration",
            "UpdateRaftVoter",
            "InitializeShareGroupState",
            "ReadShareGroupState",
            "WriteShareGroupState",
            "DeleteShareGroupState",
            "ReadShareGroupStateSummary",
        ),
    )
)
"""What brokers and controllers ask each other: not even if it is allowed by name."""


class Left(NamedTuple):
    """Why an exchange is not sent. expected: that is how a replay is, and no finding."""

    reason: str
    expected: bool = True


def left_out(exchange: Exchange, allowed: Collection[int] = ()) -> Left | None:
    """Why an exchange is not sent; None if it is. allowed: keys of APIs beside those of clients.

    >>> left_out(Exchange(0, 1, "", "a", 1, 72, 0, 0, 0))
    Left(reason='telemetry', expected=True)
    """
    key = exchange.key
    if key in HANDSHAKES or key == SASL_TOKEN:
        return Left("the replay does its own handshake")
    if key in TELEMETRY:
        return Left("telemetry")
    if key in SHARING:
        return Left(
            "the records that a share group member acquires are not deterministic", expected=False
        )
    if key in NEVER:
        return Left("sent between brokers only")
    if key not in SENT and key not in allowed:
        return Left(f"not allowed (--allow {exchange.api})" if key in NAMES else "unknown API")
    if exchange.payload.get("request"):
        return Left("its payload was removed from the capture", expected=False)
    request = exchange.request
    if request is None:
        why = exchange.undecodable.removeprefix("request: ") or "it was not recorded"
        return Left(f"its request can't be read: {why}", expected=False)
    if redact(key, "request", request) != request:
        return Left("its secrets were removed from the capture", expected=False)
    if key == FETCH and is_followers(request):
        return Left("sent by a follower")
    return None


def is_followers(request: Mapping[str, Any]) -> bool:
    """Whether a Fetch is a broker's, by its replica id."""
    state = request.get("replica_state") or {}
    replicas: tuple[int, int] = request.get("replica_id", -1), state.get("replica_id", -1)
    return max(replicas) >= 0
