"""A member of a group of the new protocol is fenced, or unknown."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.groups import CONSUMER, PARTITIONS, group_behind
from tests.experiments.scenarios.kafka import (
    JAVA,
    fired,
    made_topic,
    numbers,
    send,
    through,
    until,
)

pytestmark = pytest.mark.needs_apache("4.3.1")


def fenced(proxy: Harness) -> list[Exchange]:
    """The two heartbeats; each one's member joined again, with the id that it had."""
    told = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [one.error for one in told] == ["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"]
    beats = [one for one in proxy.exchanges if one.api == "ConsumerGroupHeartbeat"]
    for one in told:
        again = next(b for b in beats if b.client_id == one.client_id and b.ts > one.ts)
        assert one.request is not None
        assert again.request is not None
        assert again.request["member_id"] == one.request["member_id"]
        assert (again.request["member_epoch"], again.error) == (0, "")
    return told


def test_librdkafka_loses_its_partitions_and_joins_again(cluster: ApacheCluster) -> None:
    with group_behind("group-member-fenced", cluster) as group:
        group.join(2, CONSUMER)
        unknown = group.proxy.rules.rule("a member is unknown")
        while not unknown.fired:
            group.send(12)
            until(lambda: len(group.received) == group.sent or unknown.fired, "records or the end")
        group.until_shared()
        group.send(60)
        group.until_done()
    told = Counter(one.client_id for one in fenced(group.proxy))
    begun = Counter(
        one.client_id
        for one in group.exchanges("ConsumerGroupHeartbeat")
        if one.request is not None and one.request["member_epoch"] == 0 and not one.error
    )
    assert begun == told + Counter(member.name for member in group.members)
    lost = Counter({member.name: member.told.count("lost") for member in group.members})
    assert lost.total() >= 1  # one that has no partitions yet loses none
    assert lost <= told
    assert [len(ids) for ids in group.member_ids.values()] == [1, 1]


def test_java_loses_its_partitions_and_joins_again(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = made_topic(cluster.bootstrap, "group-member-fenced-java", PARTITIONS)
    send(cluster.bootstrap, topic, numbers(100), partitions=PARTITIONS)
    with through("group-member-fenced", cluster.bootstrap) as proxy:
        (member,) = java.read_together(
            topic,
            100,
            group=topic,
            pause=0.2,
            settings={
                **JAVA,
                "bootstrap.servers": proxy.bootstrap,
                "group.protocol": "consumer",
                "enable.auto.commit": "false",
                "max.poll.records": "4",
            },
        )
    fenced(proxy)
    assert len([one for one in member.told if one.startswith("lost ")]) == 2
    assert len({*member.received}) == 100
