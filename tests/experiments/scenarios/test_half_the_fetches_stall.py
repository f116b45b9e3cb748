from __future__ import annotations

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.experiments.scenarios.kafka import fired, numbers, receive, send, spread, through

VALUES = numbers(12)


@pytest.mark.slow("a client reads for seconds")
def test_all_is_read_in_bursts_and_nobody_rebalances() -> None:
    with EmbeddedCluster(1, topics={"bursts": 2}) as cluster:
        send(cluster.bootstrap, "bursts", VALUES, partitions=2)
        with through("half-the-fetches-stall", cluster.bootstrap) as proxy:
            # one record a response, until two of them have stalled
            few = {
                "fetch.message.max.bytes": 1000,
                "fetch.wait.max.ms": 50,
            }
            timings = {"session.timeout.ms": 1500, "heartbeat.interval.ms": 300}
            received = receive(
                proxy.bootstrap,
                "bursts",
                len(VALUES),
                {**few, **timings},
                done=lambda so_far: (
                    len(so_far.values) >= len(VALUES)
                    and sum(one.api == "Heartbeat" for one in proxy.exchanges) > 4
                ),
            )
    fetched = [exchange for exchange in proxy.exchanges if exchange.api == "Fetch"]
    stalled = fired(proxy, "every second fetch stalls")
    assert len(stalled) >= 2
    assert all((exchange.latency_ms or 1000) >= 1000 for exchange in stalled)
    assert len(stalled) in (len(fetched) // 2, len(fetched) // 2 + 1)
    assert received.errors == []
    for values in spread(VALUES, 2).values():
        assert [value for value in received.values if value in {*values}] == values
    assert {one.error for one in proxy.exchanges if one.api == "Heartbeat"} == {""}
    assert {row.api: row.count for row in proxy.tally.rows()}["SyncGroup"] == 1
