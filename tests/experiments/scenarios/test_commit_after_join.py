"""A commit is overtaken by the JoinGroup that its consumer sent behind it: the question of 0.11.0.1."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.java_client import Reading, ScenarioClient
from tests.experiments.scenarios.kafka import fired, numbers, send, through

pytestmark = pytest.mark.needs_apache("4.3.1")

COUNT = 80

BATCH = 5
"""Records that a poll gives, and a commit is about."""


def test_what_commit_async_was_about_is_read_again(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    """Two members read a batch at a time and commit; the second one comes when 20 are read."""
    topic, at = "commit-async", {"bootstrap.servers": cluster.bootstrap}
    java.create_topic(topic, 2, at)
    send(cluster.bootstrap, topic, numbers(COUNT), partitions=2)
    with through("commit-after-join", cluster.bootstrap) as proxy:
        settings = {
            "bootstrap.servers": proxy.bootstrap,
            "max.poll.records": str(BATCH),
            "heartbeat.interval.ms": "200",
            "session.timeout.ms": "6000",
        }
        reading = Reading(joins=(0, 20), wait=False, pause=0.05)
        members = java.read_together(topic, COUNT, settings, reading)
    late = fired(proxy, "commits arrive after the join")
    assert late
    assert {one.error for one in late} == {"ILLEGAL_GENERATION"}
    assert "CommitFailedException" in members[0].told
    received = Counter(record for member in members for record in member.received)
    assert len(received) == COUNT
    assert 0 < received.total() - COUNT <= BATCH * len(late)
