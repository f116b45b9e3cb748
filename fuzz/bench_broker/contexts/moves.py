"""Sessions in which a leader or coordinator moves to another node, or an epoch goes back (KIP-320, 951)."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import NODE, PARTITIONS, Cluster, Log
from barnabas.fuzz.bench_broker.contexts.context import (
    Context,
    Respond,
    Turn,
    Values,
    partition_errors,
    top_error,
)
from barnabas.peers.replay.versions import prune
from barnabas.specs import keys
from barnabas.specs.registry import api

NOT_LEADER: Final = 6
NOT_COORDINATOR: Final = 16
NEXT_NODE: Final = 1


def leader_moves(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Refuse all partitions: another node leads them, in the next epoch."""
    cluster.leader = NEXT_NODE
    cluster.epochs = [cluster.epoch + 1]
    return not_leader(cluster, values)


def leader_named(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Refuse all partitions, and name the next leader and its address (KIP-951)."""
    cluster.leader = NEXT_NODE
    cluster.epochs = [cluster.epoch + 1]
    leader = {"leader_id": NEXT_NODE, "leader_epoch": cluster.epoch}
    refused = partition_errors(cluster, values, NOT_LEADER, current_leader=leader)
    node = {"node_id": NEXT_NODE, "host": cluster.host, "port": cluster.port, "rack": None}
    return {**refused, "node_endpoints": [node]}


def next_leader(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Move all partitions to the other node, in the next epoch, once this response names the leader."""
    cluster.leader = NODE if cluster.leader == NEXT_NODE else NEXT_NODE
    cluster.epochs = [cluster.epoch + 1]
    return dict(values)


def created_again(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Delete the topic and create it again with another id, and later with more or fewer partitions."""
    before, cluster.topic_id = cluster.topic_id, uuid.UUID(int=cluster.topic_id.int + 1)
    cluster.logs[PARTITIONS:] = [] if len(cluster.logs) > PARTITIONS else [Log() for _ in range(8)]
    topics = [
        {**topic, "topic_id": cluster.topic_id} if topic.get("topic_id") == before else topic
        for topic in values["topics"]
    ]
    return {**values, "topics": topics}


def of_version(key: int, version: int) -> Respond:
    """Return a function that leaves all fields empty that an older version of a response lacks."""
    layout = api(key).response.layout(version)
    return lambda _, values: prune(values, layout)


def not_leader(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Refuse all partitions, so that the client looks for their leader."""
    return partition_errors(cluster, values, NOT_LEADER)


def epoch_goes_back(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Refuse all partitions: the next Metadata has an older epoch, that of a broker that lags."""
    cluster.epochs = [cluster.epoch - 2, cluster.epoch + 1]
    return not_leader(cluster, values)


def coordinator_moves(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Refuse the request: another node coordinates the group, and knows no member yet."""
    cluster.groups.clear()
    cluster.members = 0
    cluster.coordinator = NEXT_NODE
    return top_error(NOT_COORDINATOR)(cluster, values)


_FIRST_EPOCH: Final = 5


def _later_epoch(cluster: Cluster) -> None:
    cluster.epochs = [_FIRST_EPOCH]


_READING: Final = {keys.METADATA: 0, keys.FETCH: 0}
_GROUP: Final = {keys.FIND_COORDINATOR: 0, keys.JOIN_GROUP: 0, keys.SYNC_GROUP: 0}

_BEFORE_IDS: Final = 9
"""The newest version of Metadata without ids of topics."""

_LOST: Final = Turn(keys.FETCH, not_leader, None, until_case=True)
"""Refusals after which a client asks for Metadata: a fast one may else have read everything before."""

_REFUSED: Final = (*(Turn(keys.FETCH, not_leader, ordinal) for ordinal in range(3)), _LOST)
"""At least three refusals."""

CONTEXTS: Final = (
    Context("leader-moves", _READING, "consume", turns=(Turn(keys.FETCH, leader_moves), _LOST)),
    Context(
        "leader-moves-named", {keys.FETCH: 16}, "consume", turns=(Turn(keys.FETCH, leader_named),)
    ),
    Context(
        "leader-moves-produce",
        {keys.METADATA: 0, keys.PRODUCE: 0},
        "produce",
        turns=(Turn(keys.PRODUCE, leader_moves), _LOST._replace(key=keys.PRODUCE)),
    ),
    Context(
        "epoch-back",
        {keys.METADATA: 7, keys.FETCH: 9},
        "consume",
        arrange=_later_epoch,
        turns=(Turn(keys.FETCH, epoch_goes_back), _LOST),
    ),
    Context(
        "leader-moves-on",
        {keys.METADATA: 0},
        "consume",
        turns=(Turn(keys.METADATA, next_leader, None), *_REFUSED),
    ),
    Context(
        "older-answer",
        {keys.METADATA: 1, keys.FETCH: 4},
        "consume",
        turns=(
            Turn(keys.METADATA, next_leader, None),
            Turn(keys.METADATA, of_version(keys.METADATA, _BEFORE_IDS), 1),
            _LOST,
        ),
    ),
    Context(
        "topic-recreated",
        {keys.METADATA: 10},
        "consume",
        turns=(Turn(keys.METADATA, created_again, None), *_REFUSED),
    ),
    Context(
        "coordinator-moves", _GROUP, "group", turns=(Turn(keys.JOIN_GROUP, coordinator_moves),)
    ),
    Context(
        "coordinator-moves-heartbeat",
        {keys.FIND_COORDINATOR: 0, keys.CONSUMER_GROUP_HEARTBEAT: 0},
        "consumer-protocol",
        turns=(Turn(keys.CONSUMER_GROUP_HEARTBEAT, coordinator_moves),),
    ),
)
