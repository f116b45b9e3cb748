"""The demo's clients at a round of work, without any fault: nothing is found, and all is told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.experiments.explore.checks import check
from barnabas.experiments.explore.history import (
    Acknowledged,
    Assigned,
    Consumed,
    OffsetCommitted,
    Sent,
    read,
)
from barnabas.experiments.explore.read_log import id_of, read_log
from barnabas.peers.embedded import EmbeddedCluster


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedCluster(1) as cluster:
        yield cluster.bootstrap


@pytest.mark.parametrize("client", ["confluent", "aiokafka"])
def test_a_round(client: str, bootstrap: str, tmp_path: Path) -> None:
    told = {
        "BARNABAS_BOOTSTRAP": bootstrap,
        "BARNABAS_HISTORY": str(tmp_path / "history.jsonl"),
        "BARNABAS_RUN": client,
    }
    command = [
        sys.executable,
        "-m",
        "barnabas.experiments.explore.clients",
        client,
        "--records",
        "12",
    ]
    ended = subprocess.run(
        command, env={**os.environ, **told}, timeout=60, check=False, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    history = read(tmp_path / "history.jsonl")
    assert history is not None
    assert history.topics == {f"orders-{client}"}
    counts = Counter(type(event) for event in history.events)
    assert counts[Sent] == counts[Acknowledged] == counts[Consumed] == 12
    assert counts[Assigned] == 4
    assert counts[OffsetCommitted] > 0
    log = read_log(bootstrap, history.topics, {}, id_of("value"))
    assert len(log.records) == 12
    assert check(history, log) == ()
