"""Experiments in which only peers of ours take part, in their short form, as CI runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.experiments.run import run
from barnabas.designs.central_coordination.experiments.failover import LATE
from barnabas.experiments.registry import experiment, names

OWN = [name for name in names() if not experiment(name).versions]


@pytest.mark.slow("experiments in processes of their own")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", OWN)
def test_the_short_form_is_run_and_written(name: str, tmp_path: Path) -> None:
    run(name, tmp_path, short=True)
    measured = json.loads((tmp_path / f"{name}.json").read_text())["measured"]
    assert "A short run" in (tmp_path / f"{name}.md").read_text()
    HOLDS[name](measured["runs"])
    if name == "rewrite-latency":
        assert all(one["heartbeats"] for one in measured["alone"])


# How long anything takes is not asserted: a machine may stand still, and sessions then end.


def rewrite_latency(runs: list[dict[str, Any]]) -> None:
    """All join again, and none is answered before all were told."""
    assert all(one["joins"] >= 3 and one["generations"] for one in runs)
    assert all(one["told_ms"] < one["answered_ms"] for one in runs)


def rewrite_failover(runs: list[dict[str, Any]]) -> None:
    """The group recovers with its offsets, and nobody shares a partition."""
    assert [one["phase"][0] for one in runs] == ["1", "2", "3", "4", "5"]
    assert all(one["positions_kept"] == 6 and not one["owned_twice"] for one in runs)
    least = (1, 1, 1, 2, 2)
    assert all(one["generations"][-1] >= count for one, count in zip(runs, least, strict=True))


def rewrite_slow(runs: list[dict[str, Any]]) -> None:
    """Each arm has a pause with an outcome; without a rebalance there is no new generation."""
    assert sorted((one["frequency"], one["over"]) for one in runs) == [
        (2, 50), (2, 400), (10, 50), (10, 400),
    ]  # fmt: skip
    for one in runs:
        still = one["outcome"] in ("in time", "rebalance cancelled")
        assert one["outcome"] == "otherwise" or (one["generations"] == 0) == still


def central_dying(runs: list[dict[str, Any]]) -> None:
    """Who dies costs the others another round, and no offset; of who lost its session neither is said."""
    assert all(one["unanswered"] for one in runs[1:])
    for one, least in zip(runs, (2, 4, 4), strict=True):
        if not one["registered_again"]:
            assert one["stops"] >= least
            assert one["positions_kept"] == 6


def central_failover(runs: list[dict[str, Any]]) -> None:
    """Nothing is left out; who notices late has its records read twice, unless they were stored before."""
    assert [one["phase"][0] for one in runs[::2]] == ["1", "2", "3", "4", "5", "6", "7"]
    assert all(one["missed"] == one["ahead"] == 0 and one["rebalances"] for one in runs)
    late = [one for one in runs if one["kind"] == LATE]
    assert all(one["behind"] and one["twice"] for one in late[:4])


def central_pause(runs: list[dict[str, Any]]) -> None:
    """Three sessions are not forgiven, and the consumer that was away registers again."""
    assert sorted(one["pause"] for one in runs) == [0.5, 3.0]
    assert [one["registered_again"] for one in runs if one["pause"] == 3.0] == [True]
    assert all(one["failed"] for one in runs if one["pause"] == 3.0)


HOLDS = {
    "rewrite-latency": rewrite_latency,
    "rewrite-failover": rewrite_failover,
    "rewrite-slow": rewrite_slow,
    "central-dying": central_dying,
    "central-failover": central_failover,
    "central-pause": central_pause,
}
