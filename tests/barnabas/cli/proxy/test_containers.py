"""What a proxy in a container needs: fixed ports, another host in the addresses, no payload."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import started
from tests.ports import free_ports

confluent_kafka = pytest.importorskip("confluent_kafka")

VALUE = b"shown-to-nobody" * 3


def test_clients_behind_another_host_and_fixed_ports(tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    first = free_ports(5)[0]
    ports = ("--listen", f"127.0.0.1:{first}", "--broker-ports", f"{first + 1}-{first + 4}")
    options = ("--advertise", "localhost", "--log", "json", "--no-payload", "-c", str(capture))
    with (
        EmbeddedCluster(2) as cluster,
        started("proxy", "-b", cluster.bootstrap, *ports, *options) as (process, ready),
    ):
        assert ready["listen"] == f"127.0.0.1:{first}"
        producer = confluent_kafka.Producer({"bootstrap.servers": f"127.0.0.1:{first}"})
        for _ in range(2):
            producer.produce("orders", VALUE, b"a key")
            assert producer.flush(60) == 0
        brokers = producer.list_topics(timeout=60).brokers
        settings = {"bootstrap.servers": f"127.0.0.1:{first}", "group.id": "g"}
        consumer = confluent_kafka.Consumer(settings | {"auto.offset.reset": "earliest"})
        consumer.subscribe(["orders"])
        message = consumer.poll(60)
        assert message is not None
        assert message.value() == VALUE
        consumer.close()
        process.terminate()
        out, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert {(one.host, one.port) for one in brokers.values()} == {
        ("localhost", first + 1 + node) for node in brokers
    }
    assert "mask: log, control API and capture show a hash" in said
    assert "edit: clients get localhost" in said

    data = capture.read_bytes()
    assert b"orders" in data
    assert VALUE[:8] not in data
    rows = [json.loads(line) for line in out.splitlines()]
    found = [one["payload"] for one in rows if "payload" in one]
    hashes = {value for one in found for sets in one.values() for value in sets.values()}
    # what was produced twice and consumed: the same payload
    assert len({part for value in hashes for part in value.split()}) == 1
    assert {next(iter(one)) for one in found} == {"request", "response"}
    again = run("decode", capture, "--json").rows
    assert [one["payload"] for one in again if "payload" in one] == found
