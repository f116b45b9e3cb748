"""A member of a group of the new protocol commits with an old epoch."""

from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.groups import CONSUMER, PARTITIONS, group_behind
from tests.experiments.scenarios.kafka import JAVA, fired, made_topic, numbers, send, through

pytestmark = pytest.mark.needs_apache("4.3.1")


def stale(proxy: Harness, *apis: str) -> None:
    """Twice each, and nobody joined again for it."""
    told = [(one.api, one.error) for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert told == [(api, "STALE_MEMBER_EPOCH") for api in apis for _ in range(2)]
    beats = [one for one in proxy.exchanges if one.api == "ConsumerGroupHeartbeat"]
    taken = [one.request for one in beats if not one.error and one.request is not None]
    joined = [one["member_id"] for one in taken if one["member_epoch"] == 0]
    assert len(joined) == len({*joined})


def test_librdkafka_tells_of_commits_and_stays(cluster: ApacheCluster) -> None:
    with group_behind("stale-member-epoch", cluster) as group:
        group.join(1, CONSUMER)
        group.until_shared()
        group.send(60)
        group.until_done()
    stale(group.proxy, "OffsetCommit")
    (member,) = group.members
    assert member.told == ["assigned", *["STALE_MEMBER_EPOCH"] * 2, "revoked"]
    assert group.twice == 0


def test_java_tells_of_commits_and_stays(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "stale-member-epoch-java", PARTITIONS)
    send(cluster.bootstrap, topic, numbers(60), partitions=PARTITIONS)
    with through("stale-member-epoch", cluster.bootstrap) as proxy:
        (member,) = java.read_together(
            topic,
            60,
            group=topic,
            settings={
                **JAVA,
                "bootstrap.servers": proxy.bootstrap,
                "group.protocol": "consumer",
                "enable.auto.commit": "false",
                "max.poll.records": "4",
            },
        )
    stale(proxy, "OffsetFetch", "OffsetCommit")
    assert [one for one in member.told if "assigned" not in one and "revoked" not in one] == [
        "CommitFailedException"
    ] * 2
    assert len(member.received) == len({*member.received}) == 60
