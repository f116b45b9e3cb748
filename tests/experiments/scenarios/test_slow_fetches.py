from __future__ import annotations

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.experiments.scenarios.kafka import fired, numbers, receive, send, spread, through

VALUES = numbers(30)


@pytest.mark.slow("a client reads for seconds")
def test_all_is_read_in_order_and_nobody_rebalances() -> None:
    with EmbeddedCluster(1, topics={"far-away": 2}) as cluster:
        send(cluster.bootstrap, "far-away", VALUES, partitions=2)
        with through("slow-fetches", cluster.bootstrap) as proxy:
            timings = {"session.timeout.ms": 1500, "heartbeat.interval.ms": 300}
            received = receive(proxy.bootstrap, "far-away", len(VALUES), timings)
    slow = fired(proxy, "slow fetches")
    assert {exchange.api for exchange in slow} == {"Fetch"}
    assert len(slow) > 5
    assert all((exchange.latency_ms or 150) - (exchange.broker_ms or 0) >= 150 for exchange in slow)
    assert received.errors == []
    for values in spread(VALUES, 2).values():
        assert [value for value in received.values if value in {*values}] == values
    heartbeats = [one for one in proxy.exchanges if one.api == "Heartbeat"]
    assert {one.error for one in heartbeats} == {""}
    assert {one.rules for one in heartbeats} == {()}
    assert {row.api: row.count for row in proxy.tally.rows()}["SyncGroup"] == 1
