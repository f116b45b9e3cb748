"""Groups on real brokers, in the short forms that CI runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.experiments.run import run

pytestmark = [pytest.mark.needs_apache("0.11.0.1"), pytest.mark.timeout(300)]

LATE = 2_000
"""Milliseconds that a newcomer may come behind the member's work."""


def short(name: str, folder: Path) -> tuple[list[dict[str, Any]], str]:
    run(name, folder, short=True)
    document = json.loads((folder / f"{name}.json").read_text())
    assert not document["measured"].get("failed")
    return document["measured"]["runs"], (folder / f"{name}.md").read_text()


def test_an_overtaken_commit_does_not_count_and_is_read_again(tmp_path: Path) -> None:
    runs, text = short("commit-overtaken", tmp_path)
    overtaken = [o for o in runs if o["overtaken"] and o["arm"] == "same connection"]
    assert overtaken
    for one in overtaken:
        assert (one["in_log"], one["error"]) == (False, "REBALANCE_IN_PROGRESS")
        assert one["told"] == "CommitFailedException"
        assert one["read_from"] == one["log_had"] == {"0": 10}
        assert one["twice"] == 20
        assert one["state"] == "CompletingRebalance"
    behind = [o for o in runs if o["overtaken"] and o["arm"] == "the other member's join"]
    assert all((one["in_log"], one["twice"]) == (True, 0) for one in behind)
    assert "A short run" in text
    assert "sequenceDiagram" in text
    assert (tmp_path / "commit-overtaken-stall-0.11.0.1-classic.svg").exists()


@pytest.mark.needs_apache("4.3.1", "3.9.1")
def test_a_heartbeat_that_gives_partitions_up_overtakes_a_commit(tmp_path: Path) -> None:
    runs, text = short("commit-overtaken-consumer", tmp_path)
    same = [one for one in runs if one["arm"] == "same connection"]
    assert {one["version"] for one in same if one["overtaken"]} == {"4.3.1", "3.9.1"}
    for one in same:  # all come to their end, with the client of the preview, too
        assert (one["stall_ms"] is None, one["never"], one["died"]) == (False, 0, [])
    # not every run has the wanted order; one that has not counts
    for one in same:
        assert one["in_log"] is not one["overtaken"]
        assert one["error"] == ("STALE_MEMBER_EPOCH" if one["overtaken"] else "")
    assert "takes the place of its JoinGroup" in text


def test_a_newcomer_waits_until_the_member_polls(tmp_path: Path) -> None:
    runs, _ = short("rebalance-waits", tmp_path)
    assert all(one["gives_up_ms"] >= -LATE for one in runs)
    # it asks when the member has begun to work, on a busy machine some time behind
    assert all(one["waited_ms"] >= one["seconds"] * 1000 - LATE for one in runs)


@pytest.mark.needs_apache("4.3.1")
def test_java_waits_for_its_commit_sync_before_it_joins(tmp_path: Path) -> None:
    (one,), text = short("commit-overtaken-clients", tmp_path)
    assert one["client"] == "java@4.3.1"
    assert one["commits"] >= one["gave_up"] >= 1  # how many there are depends on the machine
    assert (one["behind"], one["elsewhere"], one["twice"]) == (0, 0, 0)
    assert "no commit was unanswered" in text


@pytest.mark.deep("waits for an auto-commit in each of its arms")
def test_what_came_since_the_last_auto_commit_is_delivered_again_after_a_kill(
    tmp_path: Path,
) -> None:
    runs, text = short("auto-commit-crash", tmp_path)
    killed = [one for one in runs if one["end"] == "killed"]
    closed = [one for one in runs if one["end"] == "closed"]
    assert len(killed) == len(closed) == 4
    for one in runs:
        assert one["given"] > 50
        assert one["never"] == 0
    for one in closed:
        assert one["twice"] == 0
    for one in killed:
        # 20 a second; on a busy machine a record comes late
        assert abs(one["twice"] - one["since_ms"] / 50) <= LATE / 50
        assert one["waited_ms"] > LATE
    assert "since the commit" in text
