"""Every library's program does every workload that the library offers with real Kafka, and gets over answers
that come late."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from barnabas.experiments.clients import brokers, preparation, trial
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Matrix, TableRequest
from barnabas.experiments.clients.workloads import WORKLOADS
from barnabas.peers.clients import registry
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.java import java_program
from barnabas.peers.clients.python import program
from barnabas.proxy.scenario.file import loads

GO: Final = ("franz-go@1.21.4", "sarama@1.46.2", "kafka-go@0.4.51")
NODE: Final = ("kafkajs@2.2.4", "platformatic-kafka@2.12.1")
RUST: Final = "rdkafka@0.39.0"
STREAMS: Final = "kafka-streams@4.3.1"
LATE: Final = loads("""
version: 1
rules: [{name: late, match: {api: [Produce, Fetch], direction: response}, do: {delay: 50ms}}]
""")
SHORT: Final = [
    each
    for each in WORKLOADS
    if not each.seconds and each.name not in ("burst", "long-transactions")
]
"""Workloads that take seconds."""

NOT_OFFERED: Final = "this library does not offer it"

LACKS: Final = {
    "kafka-python@here": {"consumer-protocol", "share-group"},
    "aiokafka@here": {"cooperative", "consumer-protocol", "share-group"},
    "franz-go@1.21.4": {"consumer-protocol"},
    "sarama@1.46.2": {"cooperative", "consumer-protocol", "pattern", "share-group"},
    "kafka-go@0.4.51": {
        *("idempotent", "transact", "read-process-write", "rebalanced-copy"),
        *("cooperative", "consumer-protocol", "static", "pattern", "rack", "share-group"),
    },
    "kafkajs@2.2.4": {
        *("assign", "cooperative", "consumer-protocol", "static", "pattern", "share-group"),
    },
    "platformatic-kafka@2.12.1": {"assign", "pattern", "share-group"},
    RUST: {"share-group"},
    STREAMS: {each.name for each in SHORT} - {"read-process-write", "rebalanced-copy"},
}
"""What libraries do not offer. Java offers all but `stored-offsets`, which confluent-kafka alone does."""


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.needs_go(*GO)
@pytest.mark.needs_node(*NODE)
@pytest.mark.needs_cargo(RUST)
@pytest.mark.deep("ten clients under several scenarios")
@pytest.mark.timeout(900)
def test_each_is_fine_without_faults_and_some_with_slow_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "STAY", 1.0)  # nothing happens to a group that stays
    monkeypatch.setattr(preparation, "SOON", 60.0)
    here = Path(sys.executable)
    clients: list[tuple[str, Callable[[], Program]]] = [
        ("kafka-python@here", partial(program, here, "kafka_python")),
        ("confluent-kafka@here", partial(program, here, "confluent")),
        ("aiokafka@here", partial(program, here, "aiokafka")),
        ("java@4.3.1", partial(java_program, "kafka-clients", "java", "4.3.1")),
        *((name, registry.find(name).prepare) for name in (*GO, *NODE, RUST, STREAMS)),
    ]
    assert {name.partition("@")[0] for name, _ in clients} == {
        one.name for one in registry.LIBRARIES
    }
    shorter = {each.name: each._replace(records=40) for each in SHORT}
    drawn = [shorter[name] for name in ("produce", "assign", "group")]
    # without kafka-python, which takes 130 s here
    with_pattern = [each for each in clients if not each[0].startswith("kafka-python")]
    pattern = shorter.pop("pattern")
    requests = (
        TableRequest(clients, [*shorter.values()], [], trials=1),
        TableRequest(with_pattern, [pattern], [], trials=1),
        TableRequest(clients, drawn[:2], [("late", LATE)], trials=1),
    )
    with brokers.Brokers("apache:4.3.1") as running:
        with closing(Folder(tmp_path / "plain")) as folder:
            cells = [cell for asked in requests for cell in Matrix(asked, running, folder).run()]
        with closing(Folder(tmp_path / "drawn")) as folder:
            twice = TableRequest(clients, drawn, [], trials=2)
            drawn_cells = [*Matrix(twice, running, folder).run()]
    found = {cell.name: cell.verdict for cell in cells}
    assert len(found) == len(clients) * (len(shorter) + 2) + len(with_pattern)
    others = {name: verdict.why for name, verdict in found.items() if verdict.word != "fine"}
    assert {cell.verdict.why for cell in drawn_cells if cell.verdict.word != "fine"} <= {
        NOT_OFFERED
    }
    without = [(client, one) for client, several in LACKS.items() for one in several]
    others_than = [name for name, _ in clients if not name.startswith("confluent-kafka")]
    without += [(name, "stored-offsets") for name in others_than]
    lacking = {f"{client}/{workload}/none" for client, workload in without}
    lacking |= {f"{client}/{one}/late" for client, one in without if one in ("produce", "assign")}
    assert others == dict.fromkeys(lacking, NOT_OFFERED)
