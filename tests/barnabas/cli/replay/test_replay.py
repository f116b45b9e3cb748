"""`barnabas replay` as a process: what was recorded happens again on another cluster."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from barnabas.harness import Harness
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.peers.replay import cluster as live
from tests.barnabas.cli.command import Ran, run
from tests.barnabas.cli.test_app import BARNABAS

RECORDS = 200


def produce(bootstrap: str, count: int = RECORDS, **settings: object) -> None:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "client.id": "p", **settings}
    )
    for number in range(count):
        while True:
            try:
                producer.produce("t", f"v{number}", partition=number % 2)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    assert producer.flush(60) == 0


def consume(bootstrap: str, count: int = RECORDS) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "g",
            "client.id": "c",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["t"])
    until = time.monotonic() + 60
    result = 0
    while result < count and time.monotonic() < until:
        message = consumer.poll(0.2)
        result += message is not None and message.error() is None
    assert result == count
    consumer.commit(asynchronous=False)
    consumer.close()


def content(bootstrap: str, topic: str = "t") -> dict[int, list[tuple[int, bytes | None]]]:
    """(offset, value) of all records by partition, as an ordinary client reads them."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    results: dict[int, list[tuple[int, bytes | None]]] = {0: [], 1: []}
    consumer.assign([TopicPartition(topic, number, 0) for number in results])
    ended: set[int] = set()
    until = time.monotonic() + 60
    while len(ended) < len(results) and time.monotonic() < until:
        message = consumer.poll(0.5)
        if message is not None:
            partition = message.partition()
            if message.error() is not None:
                ended.add(partition)
            else:
                results[partition].append((message.offset(), message.value()))
    consumer.close()
    assert len(ended) == len(results)
    return results


def committed(bootstrap: str) -> list[int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g"})
    places = [TopicPartition("t", number) for number in (0, 1)]
    results = [place.offset for place in consumer.committed(places, timeout=10)]
    consumer.close()
    return results


def replay(path: Path, bootstrap: str, *options: str) -> Ran:
    return run("replay", str(path), "-b", bootstrap, *options)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, object]:
    path = tmp_path_factory.mktemp("replay") / "run.pcapng"
    with EmbeddedCluster(2, topics={"t": 2}) as cluster:
        with Harness(cluster.bootstrap, capture=path) as proxy:
            produce(proxy.bootstrap)
            consume(proxy.bootstrap)
        return path, (content(cluster.bootstrap), committed(cluster.bootstrap))


def test_the_same_is_on_another_cluster_then(recorded: tuple[Path, object]) -> None:
    path, before = recorded
    with EmbeddedCluster(1, topics={"t": 2}) as cluster:
        result = replay(path, cluster.bootstrap, "--speed", "max")
        after = content(cluster.bootstrap), committed(cluster.bootstrap)
    assert result.returncode == 0, result.stdout + result.stderr
    assert after == before
    assert "0 responses differ, 0 without a response, 0 not replayable" in result.stderr
    assert "telemetry" in result.stderr


def test_once_more_offsets_follow(recorded: tuple[Path, object]) -> None:
    path, _ = recorded
    with EmbeddedCluster(2, topics={"t": 2}) as cluster:
        produce(cluster.bootstrap, 100)
        result = replay(path, cluster.bootstrap, "--speed", "10", "--filter", "client_id == 'p'")
        everything = content(cluster.bootstrap)
    assert result.returncode == 0, result.stdout + result.stderr
    assert [len(records) for records in everything.values()] == [150, 150]
    assert everything[0][50] == (50, b"v0")


def test_what_is_answered_otherwise_is_said(
    recorded: tuple[Path, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: nobody will ever lead the partition that is missing."""
    path, _ = recorded
    monkeypatch.setattr(live, "LEADERLESS", 0.0)
    with EmbeddedCluster(2, topics={"t": 1}) as cluster:
        result = replay(path, cluster.bootstrap, "--speed", "max", "--json")
    assert result.returncode == 1
    assert "the target has t with 1 partition, but the recording uses 2" in result.stderr
    paths = {one["path"] for row in result.rows for one in row["response"]}
    assert "topics[t].partitions[1]" in paths, result.stdout
    assert "responses[t].partition_responses[1].error_code" in paths, result.stdout


def test_records_of_today(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    with (
        EmbeddedCluster(1, topics={"t": 1}) as cluster,
        Harness(cluster.bootstrap, capture=path) as proxy,
    ):
        producer = Producer({"bootstrap.servers": proxy.bootstrap, "compression.type": "lz4"})
        for number in range(2):
            producer.produce("t", b"v" * 500, timestamp=1_500_000_000_000 + number)
        assert producer.flush(60) == 0
    for options in ((), ("--shift-time",)):
        with EmbeddedCluster(1, topics={"t": 1}) as cluster:
            result = replay(path, cluster.bootstrap, "--speed", "max", *options)
            assert result.returncode == 0, result.stdout + result.stderr
            first, second = timestamps(cluster.bootstrap, 2)
        assert second - first == 1
        later = first - 1_500_000_000_000  # as long as ago the recording was
        assert (0 < later < 600_000) if options else later == 0


def timestamps(bootstrap: str, count: int) -> list[int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader"})
    consumer.assign([TopicPartition("t", 0, 0)])
    messages = consumer.consume(count, timeout=60)
    consumer.close()
    return [message.timestamp()[1] for message in messages]


def test_it_can_be_stopped(recorded: tuple[Path, object]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        command = [*BARNABAS, "replay", str(recorded[0])]
        process = subprocess.Popen(
            [*command, "-b", f"127.0.0.1:{server.getsockname()[1]}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            with server.accept()[0]:  # it runs now, and waits for an answer
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 1
    assert "interrupted before the end of the recording" in said
    assert "Traceback" not in said


def test_missing_topics_are_said_before_anything_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    with (
        EmbeddedCluster(1, topics={"gone": 2}) as cluster,
        Harness(cluster.bootstrap, capture=path) as proxy,
    ):
        producer = Producer({"bootstrap.servers": proxy.bootstrap, "message.timeout.ms": 20_000})
        producer.produce("gone", b"v", partition=1)
        assert producer.flush(60) == 0
    with EmbeddedCluster(1, topics={"other": 1}) as cluster:
        result = replay(path, cluster.bootstrap, "--speed", "max")
    assert "\n    response topics[gone].partitions[2]: (absent) ≠ " in result.stdout
    errors = result.stderr.splitlines()
    assert errors[0] == "WARNING: the target lacks gone (2 partitions)"
    assert errors[1] == "Create them with as many partitions, or expect other responses"
