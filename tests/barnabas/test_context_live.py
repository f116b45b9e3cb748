"""What the context makes of a Java client's real sessions, heartbeats and transactions."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient

FETCH, HEARTBEAT = 1, 68


def lines(exchanges: list[Exchange], key: int) -> list[str]:
    """What a context that hears just these says of those with this key."""
    context, said = Context(), []
    for exchange in exchanges:
        context.learn(exchange)
        if exchange.key == key:
            said.append(details(exchange, context))
    return said


@pytest.mark.needs_apache("4.3.1")
def test_from_the_beginning_and_from_the_middle() -> None:
    with (
        ApacheCluster("4.3.1") as cluster,
        Harness(cluster.bootstrap) as proxy,
        JavaClient("4.3.1", {"bootstrap.servers": proxy.bootstrap}) as java,
    ):
        own = {"transactional.id": "pay"}
        java.produce("orders", [b"%d" % n for n in range(20)], outcome="commit", settings=own)
        new = {"group.protocol": "consumer"}
        java.consume("orders", 100, group="readers", seconds=3, settings=new)
    heard = proxy.exchanges

    fetched = lines(heard, FETCH)
    assert len(fetched) > 3
    assert all(", session " in line and ": 1 partition orders[0]" in line for line in fetched[:-1])
    assert "session" not in fetched[-1]  # the consumer ended it
    beats = lines(heard, HEARTBEAT)
    assert any(line.endswith("→ orders[0]") for line in beats)
    assert any(line.endswith("has orders[0]") for line in beats)

    context = Context()
    for exchange in heard:
        context.learn(exchange)
    assert "pay" in context.producers.values()
    last = [exchange for exchange in heard if exchange.key == FETCH][-1]
    assert all(name == "orders" for name in facts(last, context).get("topics", {}).values())

    middle = next(at for at, x in enumerate(heard) if x.key == FETCH) + 1
    fetched = lines(heard[middle:], FETCH)
    assert all(line.endswith((" began earlier", " began earlier)")) for line in fetched[:-1])
    middle = max(at for at, x in enumerate(heard) if x.key == HEARTBEAT) - 1
    (beat,) = [x for x in heard[: middle + 1] if x.key == HEARTBEAT][-1:]
    assert lines([beat], HEARTBEAT)[0].endswith(", assignment not seen")
