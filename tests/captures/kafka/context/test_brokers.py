"""Test which broker a connection goes to, by the addresses in Metadata."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.kafka.context.exchanges import exchange


def told(
    brokers: list[tuple[int, str, int]], version: int = 9, cluster: str | None = "c"
) -> Exchange:
    named = [{"node_id": node, "host": host, "port": port} for node, host, port in brokers]
    body = {"brokers": named, "topics": [], **({"cluster_id": cluster} if version >= 2 else {})}
    return exchange("Metadata", version, {"topics": []}, body, broker=None)


def asked(server: str, broker: int | None = None) -> Exchange:
    return Exchange(0, 1, "a:1", "app", broker, 1, 11, 1, 10, server_address=server)


def context(*exchanges: Exchange) -> Context:
    found = Context()
    for one in exchanges:
        found.learn(one)
    return found


@pytest.mark.parametrize("version", [0, 1, 2, 9, 13])
def test_a_broker_is_where_metadata_says(version: int) -> None:
    known = context(told([(1, "10.0.0.1", 9092), (2, "fe80::2", 9093)], version)).brokers
    assert known.node(asked("10.0.0.1:9092")) == 1
    assert known.node(asked("[fe80::2]:9093")) == 2
    assert known.node(asked("10.0.0.1:9093")) is None
    assert known.node(asked("")) is None
    assert known.known() == {"10.0.0.1:9092": 1, "[fe80::2]:9093": 2}


def test_what_the_capture_says_itself_counts() -> None:
    assert context(told([(1, "10.0.0.1", 9092)])).brokers.node(asked("10.0.0.1:9092", 7)) == 7


def test_listeners_of_one_broker_are_one_broker() -> None:
    known = context(told([(1, "10.0.0.1", 9092)]), told([(1, "10.0.0.1", 9093)])).brokers
    assert [known.node(asked(f"10.0.0.1:{port}")) for port in (9092, 9093)] == [1, 1]


def test_an_address_of_two_brokers_is_of_none() -> None:
    news = told([(1, "127.0.0.1", 9092)]), told([(2, "127.0.0.1", 9092)])
    known = context(*news, news[0]).brokers
    assert (known.node(asked("127.0.0.1:9092")), known.known()) == (None, {})


def test_nodes_of_two_clusters_are_not_mixed() -> None:
    known = context(told([(1, "10.0.0.1", 9092)]), told([(1, "10.5.0.1", 9092)], cluster="d"))
    assert known.brokers.node(asked("10.0.0.1:9092")) is None
    old = told([(1, "10.0.0.1", 9092)], version=1)
    known = context(old, told([(1, "10.0.0.1", 9092)]), old)
    assert known.brokers.node(asked("10.0.0.1:9092")) == 1
