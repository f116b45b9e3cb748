"""A commit is overtaken by the JoinGroup that its consumer sent behind it: the question of 0.11.0.1."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, Member
from tests.experiments.scenarios.kafka import fired, numbers, send, through

pytestmark = pytest.mark.needs_apache("4.3.1")

RULE = "commits arrive after the join"

COUNT = 80

BATCH = 5
"""Records that a poll gives, and a commit is about."""


class Outcome(NamedTuple):
    """What came of it."""

    members: list[Member]
    late: list[Exchange]
    """The commits that were held."""
    twice: int
    """Records that were read again."""


def read(cluster: ApacheCluster, java: JavaClient, topic: str, *, wait: bool) -> Outcome:
    """Two members read a batch at a time and commit; the second one comes when 20 are read."""
    at = {"bootstrap.servers": cluster.bootstrap}
    java.administer("create", topic=topic, partitions=2, settings=at)
    send(cluster.bootstrap, topic, numbers(COUNT), partitions=2)
    with through("commit-after-join", cluster.bootstrap) as proxy:
        members = java.read_together(
            topic,
            COUNT,
            group=topic,
            joins=(0, 20),
            wait=wait,
            pause=0.05,
            settings={
                "bootstrap.servers": proxy.bootstrap,
                "max.poll.records": str(BATCH),
                "heartbeat.interval.ms": "200",
                "session.timeout.ms": "6000",
            },
        )
    received = Counter(record for member in members for record in member.received)
    assert len(received) == COUNT
    return Outcome(members, fired(proxy, RULE), received.total() - COUNT)


def test_what_commit_async_was_about_is_read_again(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    found = read(cluster, java, "commit-async", wait=False)
    assert found.late
    assert {one.error for one in found.late} == {"ILLEGAL_GENERATION"}
    assert "CommitFailedException" in found.members[0].told
    assert 0 < found.twice <= BATCH * len(found.late)


def test_commit_sync_is_not_overtaken(cluster: ApacheCluster, java: JavaClient) -> None:
    found = read(cluster, java, "commit-sync", wait=True)
    assert {one.error for one in found.late} <= {""}  # there may be none in that moment
    assert "CommitFailedException" not in [what for one in found.members for what in one.told]
    assert found.twice == 0
