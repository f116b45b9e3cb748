from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import (
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    spread,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(30)


def test_only_what_it_leads_is_late(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "slow-broker", 3)
    with through("slow-broker", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, partitions=3)
        received = receive(proxy.bootstrap, topic, len(VALUES))
    late = fired(proxy, "broker 1 answers late")
    assert {exchange.broker for exchange in late} == {1}
    assert {"ApiVersions", "Produce", "Fetch"} <= {exchange.api for exchange in late}
    produced = [exchange for exchange in proxy.exchanges if exchange.api == "Produce"]
    assert len(produced) == len(VALUES)  # nothing was sent again
    for exchange in produced:
        assert (exchange.latency_ms or 0) - (exchange.broker_ms or 0) > (
            150 if exchange.broker == 1 else -1
        )
    others = [one.latency_ms or 0 for one in produced if one.broker != 1]
    assert sorted(others)[len(others) // 2] < 200
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == spread(VALUES, 3)
    assert received.errors == []
    assert sorted(received.values) == sorted(VALUES)
