"""What real clients said, written down by Wireshark's own dumpcap: tshark reads the same of it."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.captures.test_capture import may_capture
from tests.captures.traffic import exchanges, kafka_seen, marks, request

pytestmark = [pytest.mark.needs_tshark, pytest.mark.filterwarnings("ignore")]


def use(bootstrap: str) -> None:
    """An idempotent producer, and a consumer in a group that reads it all."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in range(200):
        producer.produce("orders", str(number) * 100, partition=number % 3)
    assert producer.flush(30) == 0
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    count = 0
    while count < 200:
        count += len(consumer.consume(200, 1))
    consumer.close()


def wait_for_the_rest(path: Path, port: int) -> None:
    """dumpcap drops what it has not written when it is stopped: so one says something more, until that
    is in the file."""
    number = 1
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        while request(1, 18, 0) not in path.read_bytes():
            client.sendall(request(number, 18, 0))
            assert client.recv(1 << 16)
            number += 1


@pytest.mark.parametrize("form", ["-P", "-n"], ids=["pcap", "pcapng"])
def test_tshark_reads_the_same(tmp_path: Path, form: str) -> None:
    path = tmp_path / "f"
    with EmbeddedCluster(2, topics={"orders": 3}) as cluster:
        ports = [int(address.rpartition(":")[2]) for address in cluster.bootstrap.split(",")]
        chosen = " or ".join(f"tcp port {port}" for port in ports)
        command = ["dumpcap", "-q", form, "-i", "lo", "-f", chosen, "-w", str(path)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if line.startswith("File: "):
                    break
            if not may_capture():
                process.terminate()
                assert process.wait(20) != 0
                return
            use(cluster.bootstrap)
            wait_for_the_rest(path, ports[0])
            process.terminate()
            assert process.wait(20) == 0
    found = exchanges(path)
    assert {"ApiVersions", "Metadata", "Produce", "Fetch", "JoinGroup"} <= {x.api for x in found}
    assert len({x.connection for x in found}) >= 4
    seen = kafka_seen(path, ports)
    assert sum(frame.asked > 0 for frame in seen) > 10
    mine = marks(found)
    assert [one[:2] for one in seen] == [one[:2] for one in mine]
    for one, other in zip(seen, mine, strict=True):
        assert one.key == -1 or one == other
