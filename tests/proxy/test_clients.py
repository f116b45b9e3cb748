"""Real clients through the proxy: all arrives, with narrowed ApiVersions too, which they keep to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from barnabas.addresses import parse_servers
from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaError
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.proxy.edits.version_ranges import Offer
from barnabas.proxy.network.options import Options
from barnabas.specs.releases import offered
from tests.peers.java.client import FullClient

COUNT = 20

PATIENCE = 20.0

Roundtrip = Callable[[str, str], list[bytes]]
"""(bootstrap, topic) -> the values that a consumer got."""

SENT = [b"%d" % number for number in range(COUNT)]


def confluent(bootstrap: str, topic: str) -> list[bytes]:
    import confluent_kafka

    common: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0}
    producer = confluent_kafka.Producer(common)
    for value in SENT:
        producer.produce(topic, value)
    assert producer.flush(PATIENCE) == 0
    group = {"group.id": topic, "auto.offset.reset": "earliest", "fetch.wait.max.ms": 50}
    consumer = confluent_kafka.Consumer({**common, **group})
    try:
        consumer.subscribe([topic])
        got: list[bytes] = []
        while len(got) < COUNT:
            messages = consumer.consume(COUNT, timeout=PATIENCE)
            assert messages, f"{len(got)} of {COUNT} records came"
            got += [message.value() for message in messages if message.error() is None]
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return got


def aiokafka_(bootstrap: str, topic: str) -> list[bytes]:
    aiokafka = pytest.importorskip("aiokafka")

    async def main() -> list[bytes]:
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            for value in SENT:
                await producer.send(topic, value)
            await producer.flush()
        async with aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=bootstrap, group_id=topic, auto_offset_reset="earliest",
            fetch_max_wait_ms=50,
        ) as consumer, asyncio.timeout(PATIENCE):  # fmt: skip
            got = [(await consumer.getone()).value for _ in range(COUNT)]
            await consumer.commit()
            return got

    return asyncio.run(main())


CLIENTS: list[Roundtrip] = [confluent, aiokafka_]


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3) as running:
        yield running


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("observed", [True, False])
def test_a_client_and_its_group(
    embedded: EmbeddedCluster, client: Roundtrip, observed: bool
) -> None:
    with Harness(Options(parse_servers(embedded.bootstrap), observed=observed)) as proxy:
        got = client(proxy.bootstrap, f"{client.__name__}-{observed}")
        learnt = {node.id: node.upstream for node in proxy.proxy.topology.nodes.values()}
        counts = {row.api: row.count for row in proxy.tally.rows()}
    assert sorted(got) == sorted(SENT)
    assert learnt == embedded.brokers
    assert {"Produce", "Fetch", "JoinGroup", "OffsetCommit", "LeaveGroup"} <= counts.keys()
    assert proxy.proxy.totals.undecoded == 0
    assert {exchange.api for exchange in proxy.exchanges} == (counts.keys() if observed else set())


def versions(exchanges: list[Exchange], key: int) -> set[int]:
    return {x.version for x in exchanges if x.key == key}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("newest", [4, 11])
def test_clients_use_no_newer_version_than_they_are_offered(
    embedded: EmbeddedCluster, client: Roundtrip, newest: int
) -> None:
    with Harness(
        Options(parse_servers(embedded.bootstrap), offer=Offer(newest={1: newest}))
    ) as proxy:
        got = client(proxy.bootstrap, f"{client.__name__}-{newest}")
    assert sorted(got) == sorted(SENT)
    fetched = versions(proxy.exchanges, 1)
    assert fetched
    assert max(fetched) <= newest
    assert not any("not offered" in x.note for x in proxy.exchanges)
    assert proxy.proxy.totals.undecoded == 0


def outside(exchanges: list[Exchange], release: str) -> set[tuple[str, int]]:
    """Return what passed to the broker unchanged though that release did not have it."""
    there = offered(release)
    return {
        (x.api, x.version)
        for x in exchanges
        if not (x.key in there and there[x.key][0] <= x.version <= there[x.key][1])
        and "answered by the proxy" not in x.note
        # which reaches the broker as v0
        and (x.api, x.error) != ("ApiVersions", "UNSUPPORTED_VERSION")
    }


@pytest.mark.needs_apache("4.3.1")
def test_a_new_broker_is_taken_for_an_old_one(kafka: ApacheCluster) -> None:
    """The Java client of 4.3.1 too takes it for a 2.8: no groups of KIP-848, no topic ids."""
    offer = Offer("2.8")
    with Harness(Options(parse_servers(kafka.bootstrap), offer=offer)) as proxy:
        for client in CLIENTS:
            assert sorted(client(proxy.bootstrap, f"narrowed-{client.__name__}")) == sorted(SENT)
        with FullClient("4.3.1", {"bootstrap.servers": proxy.bootstrap}) as java:
            java.produce("narrowed", SENT)
            received = java.consume("narrowed", COUNT, group="narrowed")
            with pytest.raises(JavaError) as refused:
                java.consume("narrowed", 1, group="new", settings={"group.protocol": "consumer"})
    assert sorted(found.value or b"" for found in received) == sorted(SENT)
    assert "Unsupported" in str(refused.value)
    assert outside(proxy.exchanges, "2.8") == set()
    assert {x.api for x in proxy.exchanges} >= {"Produce", "Fetch", "JoinGroup", "OffsetCommit"}
    assert max(versions(proxy.exchanges, 1)) == 12
    assert proxy.proxy.totals.undecoded == 0
