"""Offered is served: each API and version that a broker offers answers a minimal valid request.

These checks follow from the declarations of the APIs. Their requests change nothing: arrays are empty, ids do
not exist, and what could act on the whole cluster is validated only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import MUST, Check
from barnabas.conform.verdicts import Failed
from barnabas.specs.registry import NAMES

NOBODY: Final = 2**31 - 2
"""The id of a broker or voter that does not exist."""

ELSEWHERE: Final = "barnabas-conform"
"""The id of another cluster, which quorum requests name."""

NO_ID: Final = "barnabas-conform-none"
"""The name of a transactional id, group or topic that does not exist."""

ANY: Final = 1
"""Matches any ACL, in each field of a filter."""

NO_ACTION: Final[Mapping[str, Mapping[str, Any]]] = {
    "AddPartitionsToTxn": {
        "transactions": [
            {
                "transactional_id": NO_ID,
                "producer_id": 0,
                "producer_epoch": 0,
                "verify_only": True,
                "topics": [{"name": NO_ID, "partitions": [0]}],
            }
        ],
        "v3_and_below_transactional_id": NO_ID,
    },
    "AddRaftVoter": {"cluster_id": ELSEWHERE, "voter_id": NOBODY, "listeners": []},
    "AllocateProducerIds": {"broker_id": NOBODY},
    "AlterPartition": {"broker_id": NOBODY},
    "AssignReplicasToDirs": {"broker_id": NOBODY},
    "BeginQuorumEpoch": {"cluster_id": ELSEWHERE},
    "BrokerHeartbeat": {"broker_id": NOBODY},
    "BrokerRegistration": {"broker_id": NOBODY, "cluster_id": ELSEWHERE},
    "ControlledShutdown": {"broker_id": NOBODY, "broker_epoch": -1},
    "ControllerRegistration": {"controller_id": NOBODY},
    "CreatePartitions": {"validate_only": True},
    "CreateTopics": {"validate_only": True},
    "DescribeAcls": {
        "resource_type_filter": ANY,
        "pattern_type_filter": ANY,
        "operation": ANY,
        "permission_type": ANY,
    },
    "ElectLeaders": {"topic_partitions": []},
    "EndQuorumEpoch": {"cluster_id": ELSEWHERE},
    "Fetch": {"replica_id": -1, "session_epoch": -1, "max_wait_ms": 0},
    "FetchSnapshot": {"cluster_id": ELSEWHERE},
    "ListOffsets": {"replica_id": -1},
    "OffsetFetch": {"group_id": NO_ID, "groups": [{"group_id": NO_ID, "topics": []}]},
    "OffsetForLeaderEpoch": {"replica_id": -1},
    "Produce": {"acks": -1},
    "RemoveRaftVoter": {"cluster_id": ELSEWHERE, "voter_id": NOBODY},
    "SaslHandshake": {"mechanism": "NONE-SUCH"},
    "UnregisterBroker": {"broker_id": NOBODY},
    "UpdateFeatures": {"validate_only": True},
    "UpdateRaftVoter": {"cluster_id": ELSEWHERE, "voter_id": NOBODY},
    "Vote": {"cluster_id": ELSEWHERE},
}
"""Fields without which a request could act on the cluster, or Apache Kafka does not answer it."""

OLDEST: Final = {"Produce": {"Produce": 3}}
"""Kafka 4 offers Produce v0 to v2 for librdkafka, and closes connections that use them (KAFKA-18659)."""

CLOSES: Final = frozenset({"SaslAuthenticate"})
"""APIs that a broker may refuse by closing the connection, where it expects no authentication."""


def served(api: str) -> Check:
    """Return the check that all offered versions of an API are served."""

    async def run(broker: Broker) -> None:
        version = broker.version(api)
        response = await broker.send(api, version, **NO_ACTION.get(api, {}))
        if response.oddities:
            raise Failed(
                f"{api} v{version} response",
                "the bytes that Kafka writes",
                "; ".join(response.oddities),
                response.evidence(""),
            )

    what = f"Each offered version of {api} answers a minimal request with bytes that decode completely."
    sources = ("KIP-35", f"{api}Response.json")
    return Check(f"served/{api}", what, MUST, sources, OLDEST.get(api, {}), api, "", run)


SERVED: Final[tuple[Check, ...]] = tuple(
    served(NAMES[key]) for key in sorted(NAMES) if NAMES[key] not in CLOSES
)
"""A check for each API; a broker that does not offer the API skips it."""
