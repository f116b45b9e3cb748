"""The coordinator of processes is killed or stopped: what is written of it, and the short form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.experiments.run import run
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.failover_processes import experiment as failover_processes
from barnabas.designs.failover_processes.experiment import KILLED, PAUSED
from barnabas.designs.failover_processes.process_groups import ReadRecords
from barnabas.designs.protocol_guide.client_0_8 import Message


def exchanged(client: str, api: str, ts: int, broker: int, error: str = "") -> DialectExchange:
    """An exchange of 1 ms that begins at ts, in ms."""
    at = ts * 1_000_000
    return DialectExchange(at, 1, client, broker, "request", api, {}, at + 1_000_000, {}, error)


def test_consumers_have_a_coordinator_again_when_the_last_one_is_answered_by_another() -> None:
    found = [
        exchanged("a", "Heartbeat", 90, 1),
        exchanged("a", "Heartbeat", 110, 1),
        exchanged("a", "Heartbeat", 200, 2, "NotCoordinatorForConsumer"),
        exchanged("a", "Heartbeat", 300, 2),
        exchanged("a", "Heartbeat", 900, 2),
        exchanged("b", "OffsetCommit", 250, 2),
        exchanged("c", "ConsumerMetadata", 150, 2),
    ]
    assert failover_processes.back(found, "rewrite", 100_000_000, 1) is None
    found.append(exchanged("c", "JoinGroup", 400, 2))
    assert failover_processes.back(found, "rewrite", 100_000_000, 1) == 301.0


@pytest.mark.needs_apache("3.9.1")
@pytest.mark.timeout(300)
def test_the_short_form_is_run_and_written_and_no_record_is_lost(tmp_path: Path) -> None:
    pytest.importorskip("kazoo", reason="needs kazoo (install barnabas with the extra 'zookeeper')")
    run("failover-processes", tmp_path, short=True)
    runs = json.loads((tmp_path / "failover-processes.json").read_text())["measured"]["runs"]
    assert [(one["design"], one["kind"]) for one in runs] == [
        (design, kind) for design in ("rewrite", "central") for kind in (KILLED, PAUSED)
    ]
    assert all(one["acknowledged"] > one["missed"] == 0 for one in runs)
    assert all(one["coordinated_ms"] for one in runs if one["kind"] == KILLED)
    assert "A short run" in (tmp_path / "failover-processes.md").read_text()


def test_records_are_counted_and_those_behind_the_fault_are_seen() -> None:
    read = ReadRecords(2)
    read.take(("t", 0), 0, Message(None, b"100"))
    assert read.least() == 0
    read.take(("t", 1), 0, Message(None, b"110"))
    assert read.least() == 1
    read.since = 150
    read.take(("t", 0), 1, Message(None, b"149"))
    assert read.again == {}
    read.take(("t", 0), 0, Message(None, b"100"))
    read.take(("t", 0), 2, Message(None, b"151"))
    assert [*read.again] == [("t", 0)]
    assert [one.total() - len(one) for one in read.times.values()] == [1, 0]
    assert (("t", 0), b"151") in read.values
