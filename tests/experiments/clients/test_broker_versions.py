"""What a run of the table does differently before old brokers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from barnabas.broker_kinds import LIBRDKAFKA
from barnabas.experiments.clients import cell_run
from barnabas.experiments.clients.broker_versions import broker_settings, creates_topics
from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Matrix, TableRequest
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import find
from barnabas.peers.clients.client import Program


class _Running(Brokers):
    """Brokers that need not start."""

    def bootstrap(self) -> str:
        return "127.0.0.1:1"


def setup_of(
    monkeypatch: pytest.MonkeyPatch, out: Path, broker: str, client: str, command: str = ""
) -> TrialSetup:
    """The setup of a client's trials before brokers."""
    setups: list[TrialSetup] = []

    def trial(*given: Any) -> Trial:
        setups.append(given[3])
        return Trial(seed=0, raised="", code=0, seconds=1)

    monkeypatch.setattr(cell_run, "trial", trial)
    commands: Mapping[str, str] = {client: command} if command else {}
    plan = TableRequest(
        [(client, lambda: Program(["none"]))], [find("produce")], [], 1, commands=commands
    )
    with closing(Folder(out)) as folder, _Running(broker) as brokers:
        list(Matrix(plan, brokers, folder, 1, threading.Event()).run())
    return setups[0]


@pytest.mark.parametrize(
    ("broker", "client", "command", "told"),
    [
        ("apache:1.1.0", "sarama@1.61.1", "", "1.1.0"),
        ("apache:1.1.0", "franz-go@1.22.3", "", None),
        ("apache:1.1.0", "mine", "python mine.py", "1.1.0"),
        ("apache:0.9.0.1", "kafka-python@3.0.12", "", "0.9.0.1"),
        ("apache:4.3.1", "sarama@1.61.1", "", None),
        ("localhost:9092", "sarama@1.61.1", "", None),
        ("localhost:9092", "mine", "python mine.py", None),
        (LIBRDKAFKA, "sarama@1.61.1", "", None),
    ],
)
def test_clients_that_must_be_told_the_version_are_told(
    broker: str,
    client: str,
    command: str,
    told: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    setup = setup_of(monkeypatch, tmp_path, broker, client, command)
    assert setup.parameters.get("broker") == told
    work = find("produce").work(**setup.parameters)
    assert ("zstd" in work["codecs"]) == (broker not in ("apache:1.1.0", "apache:0.9.0.1"))


def test_librdkafka_is_told_of_brokers_without_api_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    setup = setup_of(monkeypatch, tmp_path, "apache:0.9.0.1", "kafka-go@0.4.51")
    assert setup.settings == {"api.version.request": False, "broker.version.fallback": "0.9.0.1"}
    assert not setup.makes


def test_old_brokers_create_the_partitions_of_a_topic_that_is_named() -> None:
    assert not creates_topics("0.10.2.1")
    assert broker_settings("0.10.2.1")["num.partitions"] == "4"
    assert "num.partitions" not in broker_settings("4.3.1")
    assert broker_settings("0.11.0.1")["offsets.topic.replication.factor"] == "1"


def test_brokers_that_are_restarted_do_not_wait_for_the_end_of_a_long_session() -> None:
    assert "broker.session.timeout.ms" not in broker_settings("4.3.1", restart=True)
    assert broker_settings("4.3.1")["broker.session.timeout.ms"] == "60000"
