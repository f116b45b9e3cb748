"""Members commit when a rebalance has begun that they have not heard of."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.groups import group_behind
from tests.experiments.scenarios.kafka import JAVA, fired, made_topic, numbers, send, through, until

pytestmark = pytest.mark.needs_apache("4.3.1")


RULE = "a rebalance began before the commit"


def test_librdkafka_tells_the_application_and_goes_on(cluster: ApacheCluster) -> None:
    with group_behind("rebalance-during-commit", cluster) as group:
        group.join(2)
        group.until_shared()
        rule = group.proxy.rules.rule(RULE)
        while rule.fired < 2:
            group.send(12)
            until(lambda: len(group.received) == group.sent, "records come")
        group.send(60)
        group.until_done()
    refused = fired(group.proxy, RULE)
    assert [one.error for one in refused] == ["REBALANCE_IN_PROGRESS"] * 2
    told = [what for member in group.members for what in member.told]
    assert told.count("REBALANCE_IN_PROGRESS") == 2
    assert [len(ids) for ids in group.member_ids.values()] == [1, 1]


def test_java_tells_the_application_and_joins_again(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = made_topic(cluster.bootstrap, "rebalance-during-commit-java")
    values = numbers(60)
    assert send(cluster.bootstrap, topic, values).failed == {}
    with through("rebalance-during-commit", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "max.poll.records": "5"}
        (member,) = java.read_together(topic, len(values), group=topic, settings=settings)
    refused = fired(proxy, RULE)
    assert [one.error for one in refused] == ["REBALANCE_IN_PROGRESS"] * 2
    assert member.told.count("RebalanceInProgressException") == 2
    joins = [one for one in proxy.exchanges if one.api == "JoinGroup" and one.error == ""]
    assert [one.ts > refused[0].ts for one in joins] == [False, True, True]
    assert len({one.request["member_id"] for one in joins if one.request}) == 1
