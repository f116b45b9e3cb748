"""What a proxy in a container needs: fixed ports, another host in the addresses, no payload."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.peers.embedded import EmbeddedCluster

confluent_kafka = pytest.importorskip("confluent_kafka")

VALUE = b"shown-to-nobody" * 3


def fixed_ports(count: int) -> int:
    """The first of so many free ports in a row."""
    for first in range(23_000, 60_000, 97):
        with contextlib.ExitStack() as held:
            try:
                for port in range(first, first + count):
                    held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            return first
    raise RuntimeError("no ports are free")


def test_clients_behind_another_host_and_fixed_ports(tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    first = fixed_ports(5)
    with EmbeddedCluster(2) as cluster:
        command = [sys.executable, "-m", "barnabas", "proxy", "-b", cluster.bootstrap]
        command += ["--listen", f"127.0.0.1:{first}", "--advertise", "localhost"]
        command += ["--broker-ports", f"{first + 1}-{first + 4}", "--log", "json"]
        process = subprocess.Popen(
            [*command, "--no-payload", "--capture", str(capture)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["ready"]["listen"] == f"127.0.0.1:{first}"
        producer = confluent_kafka.Producer({"bootstrap.servers": f"127.0.0.1:{first}"})
        for _ in range(2):
            producer.produce("orders", VALUE, b"a key")
            assert producer.flush(10) == 0
        brokers = producer.list_topics(timeout=10).brokers
        settings = {"bootstrap.servers": f"127.0.0.1:{first}", "group.id": "g"}
        consumer = confluent_kafka.Consumer(settings | {"auto.offset.reset": "earliest"})
        consumer.subscribe(["orders"])
        message = consumer.poll(20)
        assert message is not None
        assert message.value() == VALUE
        consumer.close()
        process.terminate()
        out, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert {(one.host, one.port) for one in brokers.values()} == {
        ("localhost", first + 1 + node) for node in brokers
    }
    assert "mask: log, control API and capture show a hash" in said
    assert "edit: clients are told localhost" in said

    data = capture.read_bytes()
    assert b"orders" in data
    assert VALUE[:8] not in data
    rows = [json.loads(line) for line in out.splitlines()]
    found = [one["payload"] for one in rows if "payload" in one]
    hashes = {value for one in found for sets in one.values() for value in sets.values()}
    # what was produced twice and consumed: the same payload
    assert len({part for value in hashes for part in value.split()}) == 1
    assert {next(iter(one)) for one in found} == {"request", "response"}
    decoded = subprocess.run(
        [sys.executable, "-m", "barnabas", "decode", str(capture), "--json"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout
    again = [json.loads(line) for line in decoded.splitlines()]
    assert [one["payload"] for one in again if "payload" in one] == found
