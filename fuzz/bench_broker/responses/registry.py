"""The registry of response functions by API. Others get `default_response`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.responses.commits import offset_commit, offset_fetch
from barnabas.fuzz.bench_broker.responses.default import describe_quorum
from barnabas.fuzz.bench_broker.responses.fetch import fetch
from barnabas.fuzz.bench_broker.responses.groups import (
    group_heartbeat,
    heartbeat,
    join_group,
    leave_group,
    sync_group,
)
from barnabas.fuzz.bench_broker.responses.metadata import (
    describe_cluster,
    find_coordinator,
    metadata,
)
from barnabas.fuzz.bench_broker.responses.offsets import list_offsets, offset_for_leader_epoch
from barnabas.fuzz.bench_broker.responses.produce import (
    add_partitions_to_txn,
    end_txn,
    init_producer_id,
    produce,
)
from barnabas.fuzz.bench_broker.responses.request import Request
from barnabas.fuzz.bench_broker.responses.sasl import sasl_authenticate, sasl_handshake
from barnabas.fuzz.bench_broker.responses.sharing import share_acknowledge, share_fetch
from barnabas.fuzz.bench_broker.responses.telemetry import get_telemetry_subscriptions
from barnabas.specs import keys

Response = Callable[[Cluster, Request], dict[str, Any]]
"""Returns the values of a response; fields that its version lacks are left out."""

RESPONSES: Final[tuple[tuple[int, Response], ...]] = (
    (keys.PRODUCE, produce),
    (keys.FETCH, fetch),
    (keys.LIST_OFFSETS, list_offsets),
    (keys.METADATA, metadata),
    (keys.OFFSET_COMMIT, offset_commit),
    (keys.OFFSET_FETCH, offset_fetch),
    (keys.FIND_COORDINATOR, find_coordinator),
    (keys.JOIN_GROUP, join_group),
    (keys.HEARTBEAT, heartbeat),
    (keys.LEAVE_GROUP, leave_group),
    (keys.SYNC_GROUP, sync_group),
    (keys.SASL_HANDSHAKE, sasl_handshake),
    (keys.SASL_AUTHENTICATE, sasl_authenticate),
    (keys.INIT_PRODUCER_ID, init_producer_id),
    (keys.OFFSET_FOR_LEADER_EPOCH, offset_for_leader_epoch),
    (keys.ADD_PARTITIONS_TO_TXN, add_partitions_to_txn),
    (keys.END_TXN, end_txn),
    (keys.TXN_OFFSET_COMMIT, offset_commit),
    (keys.DESCRIBE_QUORUM, describe_quorum),
    (keys.DESCRIBE_CLUSTER, describe_cluster),
    (keys.CONSUMER_GROUP_HEARTBEAT, group_heartbeat),
    (keys.GET_TELEMETRY_SUBSCRIPTIONS, get_telemetry_subscriptions),
    (keys.SHARE_GROUP_HEARTBEAT, group_heartbeat),
    (keys.SHARE_FETCH, share_fetch),
    (keys.SHARE_ACKNOWLEDGE, share_acknowledge),
)
"""(API key, function). AddOffsetsToTxn, PushTelemetry and the requests of admin clients need none."""
