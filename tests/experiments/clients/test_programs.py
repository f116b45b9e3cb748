"""Every library's program does every workload with real Kafka, and gets over answers that come late."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Asked, Matrix
from barnabas.experiments.clients.workloads import WORKLOADS
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.java import java_program
from barnabas.peers.clients.python import program
from barnabas.peers.clients.registry import LIBRARIES, find
from barnabas.proxy.scenario.file import loads

GO = ("franz-go@1.21.4", "sarama@1.46.2", "kafka-go@0.4.51")
NODE = ("kafkajs@2.2.4", "platformatic-kafka@2.12.1")
RUST = "rdkafka@0.39.0"
LATE = loads("""
version: 1
rules: [{name: late, match: {api: [Produce, Fetch], direction: response}, do: {delay: 50ms}}]
""")


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.needs_go(*GO)
@pytest.mark.needs_node(*NODE)
@pytest.mark.needs_cargo(RUST)
@pytest.mark.timeout(900)
def test_each_is_fine_without_faults_and_with_slow_answers(tmp_path: Path) -> None:
    here = Path(sys.executable)
    clients: list[tuple[str, Callable[[], Program]]] = [
        ("kafka-python@here", partial(program, here, "kafka_python")),
        ("confluent-kafka@here", partial(program, here, "confluent")),
        ("aiokafka@here", partial(program, here, "aiokafka")),
        ("java@4.3.1", partial(java_program, "4.3.1")),
        *((name, find(name).prepare) for name in (*GO, *NODE, RUST)),
    ]
    assert {name.partition("@")[0] for name, _ in clients} == {name for name, _, _ in LIBRARIES}
    asked = Asked(clients, WORKLOADS, [("late", LATE)], trials=1)
    folder = Folder(tmp_path)
    with Brokers("apache:4.3.1") as brokers:
        found = list(Matrix(asked, brokers, folder).run())
    folder.close()
    others = {cell.name: cell.verdict for cell in found if cell.verdict.word != "fine"}
    lacks = {f"kafka-go@0.4.51/{name}" for name in ("idempotent", "transact")}
    lacks |= {
        f"kafkajs@2.2.4/{name}"
        for name in ("assign", "cooperative", "consumer-protocol", "share-group")
    }
    lacks |= {f"platformatic-kafka@2.12.1/{name}" for name in ("assign", "share-group")}
    lacks.add(f"{RUST}/share-group")
    assert set(others) == {f"{row}/{name}" for row in lacks for name in ("none", "late")}
    assert {one.why for one in others.values()} == {"this library does not offer it"}
    assert len(found) == len(clients) * len(WORKLOADS) * 2
