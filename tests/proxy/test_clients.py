"""Real clients through the proxy to the embedded cluster: all arrives, and nobody goes past it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.harness import Harness
from barnabas.peers.embedded import EmbeddedCluster

confluent_kafka = pytest.importorskip("confluent_kafka")

COUNT = 60

PATIENCE = 10.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3) as running:
        yield running


def sockets_of_this_process() -> set[str]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def connections(to: set[int]) -> int:
    """How many TCP connections of this process lead to one of these ports."""
    own, count = sockets_of_this_process(), 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        port, established = int(fields[2].split(":")[1], 16), fields[3] == "01"
        count += established and port in to and fields[9] in own
    return count


def nobody_goes_past(proxy: Harness, cluster: EmbeddedCluster) -> None:
    """Every connection to a broker is one that the proxy made."""
    brokers = {port for _, port in cluster.brokers.values()}
    assert 0 < connections(brokers) <= len(proxy.proxy.relays)


def group(name: str) -> dict[str, Any]:
    return {
        "group.id": name,
        "auto.offset.reset": "earliest",
        "session.timeout.ms": 1200,
        "heartbeat.interval.ms": 300,
        "fetch.wait.max.ms": 50,
    }


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="connections are counted in /proc")
@pytest.mark.parametrize("observed", [True, False])
def test_confluent_kafka_and_its_group(cluster: EmbeddedCluster, observed: bool) -> None:
    topic = f"confluent-{observed}"
    sent = {b"%d" % n for n in range(COUNT)}
    with Harness(cluster.bootstrap, observed=observed) as proxy:
        common = {"bootstrap.servers": proxy.bootstrap, "log_level": 0}
        producer = confluent_kafka.Producer(common)
        for value in sent:
            producer.produce(topic, value)
        assert producer.flush(PATIENCE) == 0
        consumer = confluent_kafka.Consumer({**common, **group(topic)})
        try:
            consumer.subscribe([topic])
            got = [message.value() for message in consumer.consume(COUNT, timeout=PATIENCE)]
            consumer.commit(asynchronous=False)
            nobody_goes_past(proxy, cluster)
            learnt = {node.id: node.upstream for node in proxy.proxy.topology.nodes.values()}
        finally:
            consumer.close()
        counts = {row.api: row.count for row in proxy.tally.rows()}
    assert sorted(got) == sorted(sent)
    assert learnt == cluster.brokers
    assert {"Produce", "Fetch", "JoinGroup", "OffsetCommit", "LeaveGroup"} <= counts.keys()
    assert proxy.proxy.totals.undecoded == 0
    logged = {exchange.api for exchange in proxy.exchanges}
    assert logged == (counts.keys() if observed else set())


@pytest.mark.parametrize("observed", [True, False])
def test_aiokafka_and_its_group(cluster: EmbeddedCluster, observed: bool) -> None:
    aiokafka = pytest.importorskip("aiokafka")
    topic = f"aiokafka-{observed}"

    async def main(bootstrap: str) -> list[bytes]:
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            for n in range(COUNT):
                await producer.send(topic, b"%d" % n)
            await producer.flush()
        settings = {"session_timeout_ms": 1200, "heartbeat_interval_ms": 300}
        async with aiokafka.AIOKafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=topic,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=50,
            **settings,
        ) as consumer:
            async with asyncio.timeout(PATIENCE):
                got = [(await consumer.getone()).value for _ in range(COUNT)]
            await consumer.commit()
            return got

    with Harness(cluster.bootstrap, observed=observed) as proxy:
        got = asyncio.run(main(proxy.bootstrap))
    assert sorted(got) == sorted(b"%d" % n for n in range(COUNT))
    assert proxy.proxy.totals.undecoded == 0
    assert {row.api for row in proxy.tally.rows()} >= {"Produce", "Fetch", "OffsetCommit"}
