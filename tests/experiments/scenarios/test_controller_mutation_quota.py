from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import QUICK, SOON, fired, silence, through

pytestmark = pytest.mark.needs_apache("4.3.1")

TOPIC = "quota"
WAIT = 300
"""What a refusal says that the client is to wait, in ms."""


def test_java_asks_again_when_it_may(cluster: ApacheCluster, java: JavaClient) -> None:
    calls = {"create": "CreateTopics", "grow": "CreatePartitions", "delete": "DeleteTopics"}
    with through("controller-mutation-quota", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap}
        for number, call in enumerate(calls, 1):
            java.administer(call, topic=TOPIC, partitions=number, settings=settings)
    for api in calls.values():
        asked = sorted((one for one in proxy.exchanges if one.api == api), key=lambda one: one.ts)
        assert [one.error for one in asked] == ["THROTTLING_QUOTA_EXCEEDED"] * 2 + [""]
        assert [len(one.rules) for one in asked] == [1, 1, 0]
        waits = [(asked[at + 1].ts - asked[at].ts) / 1e6 for at in range(2)]
        assert min(waits) > 0.95 * WAIT


def test_librdkafka_gets_it_at_once(cluster: ApacheCluster) -> None:
    with through("controller-mutation-quota", cluster.bootstrap) as proxy:
        admin = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap})
        admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(SOON)
        admin.delete_topics([TOPIC])[TOPIC].result(SOON)
    (created,) = fired(proxy, "too many topics are created, by an older version")
    (deleted,) = fired(proxy, "too many topics are deleted, by an older version")
    for one in created, deleted:
        assert one.error == ""
        assert one.response is not None
        assert one.response["throttle_time_ms"] == WAIT
        assert silence(proxy, one) > 0.95 * WAIT
