"""The registry: which function answers which API. All others are answered by `otherwise`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.answers.commits import offset_commit, offset_fetch
from barnabas.fuzz.answering.answers.consumer_groups import group_heartbeat
from barnabas.fuzz.answering.answers.fetch import fetch
from barnabas.fuzz.answering.answers.groups import heartbeat, join_group, leave_group, sync_group
from barnabas.fuzz.answering.answers.metadata import describe_cluster, find_coordinator, metadata
from barnabas.fuzz.answering.answers.offsets import list_offsets, offset_for_leader_epoch
from barnabas.fuzz.answering.answers.produce import (
    add_partitions_to_txn,
    end_txn,
    init_producer_id,
    produce,
)
from barnabas.fuzz.answering.answers.quorum import describe_quorum
from barnabas.fuzz.answering.answers.sasl import sasl_authenticate, sasl_handshake
from barnabas.fuzz.answering.answers.sharing import share_acknowledge, share_fetch
from barnabas.fuzz.answering.answers.telemetry import get_telemetry_subscriptions
from barnabas.fuzz.answering.cluster import Cluster
from barnabas.specs import keys

Answer = Callable[[Cluster, Ask], dict[str, Any]]
"""The values of a response; what its version has no fields for is left out."""

ANSWERS: Final[tuple[tuple[int, Answer], ...]] = (
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
"""(API key, what answers it). AddOffsetsToTxn, PushTelemetry and the calls of admin clients have nothing to
say."""
