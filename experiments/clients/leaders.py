"""Moves partitions to other brokers before a trial, so that their leader epochs are above 0 (KIP-101)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.explore.history import TopicPartition
from barnabas.peers.apache.cluster import ApacheCluster
from barnabas.peers.apache.probe import ask
from barnabas.specs import Malformed
from barnabas.specs.keys import ALTER_PARTITION_REASSIGNMENTS

TIMEOUT: Final = 20.0
"""Seconds that a move of empty partitions may take."""

POLL: Final = 0.1
"""Seconds between two requests of Metadata."""


def move_leaders(setup: TrialSetup, cluster: ApacheCluster, topics: Sequence[str]) -> None:
    """Move each partition of one replica to the next broker, and wait for its new leader.

    Raises:
        OSError: The brokers did not move it.
    """
    from confluent_kafka.admin import AdminClient

    admin, nodes = AdminClient(setup.librdkafka), sorted(cluster.nodes)
    targets = {
        partition: nodes[nodes.index(leader) - 1]
        for partition, leader in _leaders(admin, topics).items()
    }
    moves = [
        {
            "name": name,
            "partitions": [
                {"partition_index": number, "replicas": [node]}
                for (topic, number), node in targets.items()
                if topic == name
            ],
        }
        for name in topics
    ]
    port = next(iter(cluster.nodes.values())).port
    body = {"timeout_ms": int(TIMEOUT * 1000), "topics": moves}
    try:
        answer = ask(port, ALTER_PARTITION_REASSIGNMENTS, 0, body, TIMEOUT)
    except Malformed as problem:
        raise OSError(f"brokers answered a reassignment wrongly: {problem}") from None
    if answer["error_code"]:
        raise OSError(f"brokers refused a reassignment: error {answer['error_code']}")
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        if _leaders(admin, topics) == targets:
            return
        time.sleep(POLL)
    raise OSError(f"brokers did not move partitions within {TIMEOUT:g} s")


def _leaders(admin: Any, topics: Sequence[str]) -> dict[TopicPartition, int]:
    """Return the node ids of leaders."""
    return {
        (name, number): partition.leader
        for name in topics
        for number, partition in admin.list_topics(name, TIMEOUT).topics[name].partitions.items()
    }
