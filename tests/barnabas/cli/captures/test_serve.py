"""`barnabas serve` as a process: clients that were recorded get from it what they got then."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from barnabas.harness import Harness
from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.test_app import started
from tests.proxy.frames import request

pytestmark = pytest.mark.slow("brokers in a process of their own, and clients")

Read = list[tuple[int, int, bytes | None]]


def produce_and_consume(bootstrap: str) -> Read:
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in range(20):
        producer.produce("t", f"v{number}", partition=number % 2)
    assert producer.flush(60) == 0
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["t"])
    found: Read = []
    until = time.monotonic() + 60
    while len(found) < 20 and time.monotonic() < until:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            found.append((message.partition() or 0, message.offset() or 0, message.value()))
    consumer.commit(asynchronous=False)
    consumer.close()
    return sorted(found)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Read]:
    path = tmp_path_factory.mktemp("serve") / "run.pcapng"
    with (
        EmbeddedCluster(2, topics={"t": 2}) as cluster,
        Harness(cluster.bootstrap, capture=path) as proxy,
    ):
        return path, produce_and_consume(proxy.bootstrap)


def stopped(process: subprocess.Popen[str], number: int = signal.SIGINT) -> tuple[int, str]:
    """The exit code after a signal, and what it said on stderr."""
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


SERVE = ("serve", "--listen", "127.0.0.1:0")


def test_the_same_client_reads_the_same_without_a_cluster(recorded: tuple[Path, Read]) -> None:
    path, before = recorded
    with started(*SERVE, str(path)) as (process, ready):
        again = produce_and_consume(ready["listen"])
        code, said = stopped(process)
    assert again == before
    assert len(before) == 20
    assert code == 0, said
    assert "requests answered" in said
    assert "listening on 127.0.0.1:" in said


def ask(address: str, data: bytes) -> bytes:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        found = b""
        while chunk := client.recv(65536):
            found += chunk
    return found


def test_what_was_never_recorded_is_said(recorded: tuple[Path, Read]) -> None:
    with started(*SERVE, str(recorded[0]), "--speed", "0") as (process, ready):
        unknown = request("DescribeGroups", 7, version=1, groups=["x"])
        assert ask(ready["listen"], unknown) == b""
        code, said = stopped(process)
    assert code == 1
    assert "requested but not recorded: DescribeGroups v1, 1 time" in said


def test_what_is_no_request_costs_its_connection_only(recorded: tuple[Path, Read]) -> None:
    with started(*SERVE, str(recorded[0]), "--speed", "0") as (process, ready):
        assert ask(ready["listen"], b"GET / HTTP/1.1\r\n\r\n") == b""
        assert ask(ready["listen"], b"\0\0\0\x08\0\x03\0\x01\0\0\0\x07") == b""
        answer = ask(ready["listen"], request("ApiVersions", 7, version=0))
        assert answer[4:8] == b"\0\0\0\x07"
        code, said = stopped(process, signal.SIGHUP)
    assert code == 0
    assert "3 connections, 1 request answered, 1 matched by the recorded versions" in said
    assert "a request of 1195725856 bytes: connection closed" in said
