"""The choice of the recorded exchanges that are sent to a live cluster, and reasons for the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.specs.keys import FETCH
from barnabas.specs.registry import NAMES, key_of
from barnabas.specs.secrets import redact

HANDSHAKES: Final = frozenset(map(key_of, ("ApiVersions", "SaslHandshake", "SaslAuthenticate")))
"""Requests that the replay makes itself on each connection."""

TELEMETRY: Final = frozenset(map(key_of, ("GetTelemetrySubscriptions", "PushTelemetry")))

SHARING: Final = frozenset(map(key_of, ("ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge")))
"""Requests of share group members (KIP-932). A broker acquires each record for one member, so a replay's
member may not have the record that it acknowledged, and another one waits for it in vain."""

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
"""Requests between brokers and controllers, which are not sent even if allowed by name."""


class Omission(NamedTuple):
    """The reason for not sending an exchange. expected: true of every replay, and no finding."""

    reason: str
    expected: bool = True


def omission_of(exchange: Exchange, allowed: Collection[int] = ()) -> Omission | None:
    """Return the reason for not sending an exchange; None: it is sent. allowed: additional API keys.

    >>> omission_of(Exchange(0, 1, "", "a", 1, 72, 0, 0, 0))
    Omission(reason='telemetry', expected=True)
    """
    key = exchange.key
    if key in HANDSHAKES or key == SASL_TOKEN:
        return Omission("the replay does its own handshake")
    if key in TELEMETRY:
        return Omission("telemetry")
    if key in SHARING:
        return Omission(
            "the records that a share group member acquires are not deterministic", expected=False
        )
    if key in NEVER:
        return Omission("sent between brokers only")
    if key not in SENT and key not in allowed:
        return Omission(f"not allowed (--allow {exchange.api})" if key in NAMES else "unknown API")
    if exchange.payload.get("request"):
        return Omission("its payload was removed from the capture", expected=False)
    request = exchange.request
    if request is None:
        reason = exchange.undecodable.removeprefix("request: ") or "it was not recorded"
        return Omission(f"its request can't be read: {reason}", expected=False)
    if redact(key, "request", request) != request:
        return Omission("its secrets were removed from the capture", expected=False)
    if key == FETCH and is_from_follower(request):
        return Omission("sent by a follower")
    return None


def is_from_follower(request: Mapping[str, Any]) -> bool:
    """Return whether a Fetch was sent by a broker, which its replica id shows."""
    state = request.get("replica_state") or {}
    replicas: tuple[int, int] = request.get("replica_id", -1), state.get("replica_id", -1)
    return max(replicas) >= 0
