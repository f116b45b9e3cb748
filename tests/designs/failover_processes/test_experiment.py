"""The coordinator of processes is killed or stopped: what is written of it, and the short form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.experiments.run import run
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.failover_processes import experiment as failover_processes
from barnabas.designs.failover_processes.experiment import KILLED, PAUSED


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


def one(design: str, kind: str, session: int, **more: Any) -> dict[str, Any]:
    about = {"design": design, "kind": kind, "session": session, "round": 0, "node": 1, "joins": 3}
    times = {"session_ms": 2_000.0, "elected_ms": 2_010.0, "coordinated_ms": 2_300.0}
    read = {"others_ms": 400.0, "its_ms": 2_500.0, "acknowledged": 100, "missed": 0, "twice": 0}
    return {**about, **times, **read, **more}


def test_times_are_held_against_the_session_and_records_are_counted() -> None:
    runs = [
        one("rewrite", KILLED, 2),
        one("rewrite", KILLED, 2, coordinated_ms=2_500.0),
        one("rewrite", PAUSED, 2, coordinated_ms=None, its_ms=10_400.0),
        one("central", KILLED, 2, others_ms=2_400.0, missed=1),
        one("central", PAUSED, 2, its_ms=9_000.0, twice=7),
    ]
    how = {"sessions": [2], "rounds": 2, "stopped": 10.0}
    text = failover_processes.write({"how": how, "runs": runs})
    assert "| rewrite | killed | 2 | 2000, 2000 | 2010, 2010 | 2400, 2500 | 400, 400 |" in text
    assert "| not before it went on |" in text
    assert (
        "rewrite: not all consumers had another coordinator than the stopped one in 1 of 1" in text
    )
    assert "Of 500 records that were acknowledged 1 were not read. 7 reads" in text
    assert (
        "A coordinator of rewrite that is killed costs its ZooKeeper session, and then 400 ms"
        in text
    )
    assert (
        "rewrite: without a coordinator the others' partitions are fetched in 2 of 2 runs" in text
    )
    assert (
        "central: without a coordinator the others' partitions are fetched in 0 of 1 runs" in text
    )
    assert "was not fetched before it went on in 1 of 2 runs" in text
    assert "<svg" in failover_processes.drawn({"runs": runs})["coordinated"]


@pytest.mark.needs_apache("3.9.1")
@pytest.mark.timeout(300)
def test_the_short_form_is_run_and_written_and_no_record_is_lost(tmp_path: Path) -> None:
    pytest.importorskip("kazoo", reason="needs kazoo (pip install 'barnabas[zookeeper]')")
    run("failover-processes", tmp_path, short=True)
    runs = json.loads((tmp_path / "failover-processes.json").read_text())["measured"]["runs"]
    assert [(one["design"], one["kind"]) for one in runs] == [
        (design, kind) for design in ("rewrite", "central") for kind in (KILLED, PAUSED)
    ]
    assert all(one["acknowledged"] > one["missed"] == 0 for one in runs)
    assert all(one["coordinated_ms"] for one in runs if one["kind"] == KILLED)
    assert "A short run" in (tmp_path / "failover-processes.md").read_text()
