"""The embedded cluster against the clients that people use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from barnabas.peers import embedded
from barnabas.peers.embedded import AUTO_PARTITIONS, EmbeddedCluster, UnavailableError

confluent_kafka = pytest.importorskip("confluent_kafka")

# a rebalance takes the session timeout less 1 s
GROUP = {"session.timeout.ms": 1200, "heartbeat.interval.ms": 300}


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3, topics={"orders": 6}) as running:
        yield running


def client(cluster: EmbeddedCluster, **settings: Any) -> dict[str, Any]:
    # without log_level its clients would complain on stderr when the cluster stops before them
    return {"bootstrap.servers": cluster.bootstrap, "log_level": 0, **settings}


def test_topics_are_there_at_once_or_when_named(cluster: EmbeddedCluster) -> None:
    producer = confluent_kafka.Producer(client(cluster))
    assert len(producer.list_topics("orders", timeout=5).topics["orders"].partitions) == 6
    found = producer.list_topics("made-by-naming-it", timeout=5).topics["made-by-naming-it"]
    assert len(found.partitions) == AUTO_PARTITIONS


def test_confluent_kafka_produces_consumes_and_commits(cluster: EmbeddedCluster) -> None:
    producer = confluent_kafka.Producer(client(cluster))
    sent = {b"%d" % i for i in range(30)}
    for value in sent:
        producer.produce("confluent", value)
    assert producer.flush(5) == 0
    group = {"group.id": "confluent", "auto.offset.reset": "earliest", **GROUP}
    consumer = confluent_kafka.Consumer(client(cluster, **group))
    try:
        consumer.subscribe(["confluent"])
        got = {message.value() for message in consumer.consume(30, timeout=5)}
        assert got == sent
        # a partition that got no record has no offset to commit, which shows as a negative one
        assert sum(max(at.offset, 0) for at in consumer.commit(asynchronous=False)) == 30
    finally:
        consumer.close()


@pytest.mark.parametrize("wrong", [{"brokers": 0}, {"topics": {"orders": 0}}])
def test_a_cluster_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"orders|brokers"), EmbeddedCluster(**wrong):
        pass


def test_a_missing_wheel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded._library.cache_clear()
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with (
        pytest.raises(UnavailableError, match=r"barnabas with the extra 'peers'"),
        EmbeddedCluster(),
    ):
        pass
