"""Scenarios that an administrator meets."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import QUICK, fired, silence, through
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("4.3.1")

WAIT = 300
"""What a refusal says that the client is to wait, in ms."""


def test_java_asks_again_when_it_may(cluster: ApacheCluster, java: ScenarioClient) -> None:
    apis = ("CreateTopics", "CreatePartitions", "DeleteTopics")
    with through("controller-mutation-quota", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap}
        java.administer("create", "quota", settings, 1)
        java.administer("grow", "quota", settings, 2)
        java.administer("delete", "quota", settings, 0)
    for api in apis:
        asked = of_api(proxy, api)
        assert [one.error for one in asked] == ["THROTTLING_QUOTA_EXCEEDED"] * 2 + [""]
        assert [len(one.rules) for one in asked] == [1, 1, 0]
        assert min((asked[at + 1].ts - asked[at].ts) / 1e6 for at in range(2)) > 0.95 * WAIT


def test_librdkafka_gets_it_at_once(cluster: ApacheCluster) -> None:
    with through("controller-mutation-quota", cluster.bootstrap) as proxy:
        admin = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap})
        admin.create_topics([NewTopic("quota", 1)])["quota"].result(SOON)
        admin.delete_topics(["quota"])["quota"].result(SOON)
    (created,) = fired(proxy, "too many topics are created, by an older version")
    (deleted,) = fired(proxy, "too many topics are deleted, by an older version")
    for one in created, deleted:
        assert one.error == ""
        assert one.response is not None
        assert one.response["throttle_time_ms"] == WAIT
        assert silence(proxy, one) > 0.95 * WAIT


def test_topics_are_made_in_another_order(cluster: ApacheCluster) -> None:
    names = ["lossy-first", "lossy-second"]
    with through("lossy-network", cluster.bootstrap) as proxy:
        admin = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap})
        admin.list_topics(timeout=SOON)  # so that it is connected, and both go the same way
        for made in [admin.create_topics([NewTopic(name, 1, 1)]) for name in names]:
            for future in made.values():
                future.result(SOON)
        (rule,) = (one for one in proxy.rules.rules if "overtake" in one.name)
        assert rule.fired == 2
    direct = AdminClient({"bootstrap.servers": cluster.bootstrap})
    assert {*names} <= direct.list_topics(timeout=SOON).topics.keys()
