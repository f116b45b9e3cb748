"""Kafka's clients behind toxiproxy's proxies, one a broker, while toxics come and go."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.peers.embedded import EmbeddedCluster
from tests.proxy.toxiproxy.processes import ask, barnabas

confluent_kafka = pytest.importorskip("confluent_kafka")

pytestmark = pytest.mark.slow("a cluster, and the command line as a process")

PATIENCE = 20.0


class Bench:
    """A cluster, and a proxy in front of each of its brokers."""

    def __init__(self, cluster: EmbeddedCluster, port: int, capture: Path) -> None:
        self.port = port
        self.capture = capture
        proxies = [
            {"name": f"broker-{node}", "listen": "127.0.0.1:0", "upstream": f"{host}:{number}"}
            for node, (host, number) in cluster.brokers.items()
        ]
        made = json.loads(ask(port, "POST", "/populate", json.dumps(proxies).encode()).body)
        self.listen: dict[str, str] = {each["name"]: each["listen"] for each in made["proxies"]}

    def all(self, method: str, path: str, **body: Any) -> None:
        """Send a request about each proxy."""
        for name in self.listen:
            answer = ask(self.port, method, f"/proxies/{name}{path}", json.dumps(body).encode())
            assert answer.status in (200, 204), answer

    def producer(self) -> Any:
        return confluent_kafka.Producer(
            {
                "bootstrap.servers": ",".join(self.listen.values()),
                "log_level": 0,
                "linger.ms": 0,
                "socket.timeout.ms": 1000,
                "reconnect.backoff.max.ms": 200,
                "retry.backoff.ms": 50,
            }
        )


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    capture = tmp_path_factory.mktemp("toxiproxy") / "run.pcapng"
    arguments = ("--log", "off", "--capture", str(capture))
    with EmbeddedCluster(3, topics={"t": 3}) as cluster, barnabas(*arguments) as ours:
        yield Bench(cluster, ours["port"], capture)


def delivered(producer: Any, patience: float = PATIENCE) -> float | None:
    """Seconds until a record on each partition is there; None if one is not in time."""
    began = time.monotonic()
    for partition in range(3):
        producer.produce("t", b"x", partition=partition)
    return None if producer.flush(patience) else time.monotonic() - began


@pytest.mark.parametrize("type_", ["timeout", "reset_peer"])
def test_records_arrive_when_what_cut_them_off_is_gone(bench: Bench, type_: str) -> None:
    producer = bench.producer()
    assert delivered(producer) is not None
    bench.all("POST", "/toxics", type=type_, stream="upstream", attributes={"timeout": 100})
    assert delivered(producer, 1.0) is None
    bench.all("DELETE", f"/toxics/{type_}_upstream")
    assert producer.flush(PATIENCE) == 0


def test_a_consumer_reads_on_through_all_of_it_and_the_capture_has_it(bench: Bench) -> None:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bench.listen["broker-1"],
            "group.id": "readers",
            "auto.offset.reset": "earliest",
            "log_level": 0,
            "fetch.wait.max.ms": 50,
            "reconnect.backoff.max.ms": 200,
        }
    )
    consumer.subscribe(["t"])
    read = 0

    def read_on() -> None:
        nonlocal read
        until = time.monotonic() + PATIENCE
        before = read
        while read == before:
            assert time.monotonic() < until
            read += len(consumer.consume(100, 0.2))

    try:
        producer = bench.producer()
        assert delivered(producer) is not None
        read_on()
        bench.all("POST", "", enabled=False)
        consumer.consume(1, 0.5)
        bench.all("POST", "", enabled=True)
        while consumer.consume(100, 1.0):
            pass
        assert delivered(producer) is not None
        read_on()
    finally:
        consumer.close()
    apis = {exchange.api for exchange in open_capture(bench.capture).exchanges()}
    assert {"Produce", "Fetch", "Metadata", "JoinGroup"} <= apis
