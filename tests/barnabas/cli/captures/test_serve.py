"""`barnabas serve` as a process: clients that were recorded get from it what they got then."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from barnabas.harness import Harness
from barnabas.peers.embedded import EmbeddedCluster
from tests.proxy.playbook import request

pytestmark = pytest.mark.slow("brokers in a process of their own, and clients")

Read = list[tuple[int, int, bytes | None]]


def produce_and_consume(bootstrap: str) -> Read:
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in range(20):
        producer.produce("t", f"v{number}", partition=number % 2)
    assert producer.flush(30) == 0
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["t"])
    found: Read = []
    until = time.monotonic() + 30
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


class Serving:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.listen: str = json.loads(process.stdout.readline())["ready"]["listen"]
        self.said = ""

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        _, self.said = self.process.communicate(timeout=30)
        return self.process.returncode


@contextmanager
def serving(path: Path, *options: str) -> Iterator[Serving]:
    command = [sys.executable, "-m", "barnabas", "serve", str(path), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    try:
        yield Serving(process)
    finally:
        process.kill()
        process.communicate()


def test_the_same_client_reads_the_same_without_a_cluster(recorded: tuple[Path, Read]) -> None:
    path, before = recorded
    with serving(path) as server:
        again = produce_and_consume(server.listen)
        code = server.stop()
    assert again == before
    assert len(before) == 20
    assert code == 0, server.said
    assert "requests answered" in server.said
    assert "listening on 127.0.0.1:" in server.said


def ask(address: str, data: bytes) -> bytes:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        found = b""
        while chunk := client.recv(65536):
            found += chunk
    return found


def test_what_was_never_recorded_is_said(recorded: tuple[Path, Read]) -> None:
    with serving(recorded[0], "--speed", "0") as server:
        assert ask(server.listen, request("DescribeGroups", 7, version=1, groups=["x"])) == b""
        assert server.stop() == 1
    assert "requested but not recorded: DescribeGroups v1, 1 time" in server.said


def test_what_is_no_request_costs_its_connection_only(recorded: tuple[Path, Read]) -> None:
    with serving(recorded[0], "--speed", "0") as server:
        assert ask(server.listen, b"GET / HTTP/1.1\r\n\r\n") == b""
        assert ask(server.listen, b"\0\0\0\x08\0\x03\0\x01\0\0\0\x07") == b""
        assert ask(server.listen, request("ApiVersions", 7, version=0))[4:8] == b"\0\0\0\x07"
        assert server.stop(signal.SIGHUP) == 0
    assert "3 connections, 1 request answered, 1 matched by the recorded versions" in server.said
    assert "a request of 1195725856 bytes: connection closed" in server.said
