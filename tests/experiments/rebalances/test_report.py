"""The text follows from the figures."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.rebalances import plots, report
from experiments.rebalances.arms import ARMS, groups, scenario
from proxy.scenario import loads

HOW = {"cases": [], "each": 10, "session": 6.0, "at_once": 25}


def figures(arm: str, *, overtaken: bool, **other: Any) -> dict[str, Any]:
    return {
        "version": "0.11.0.1", "protocol": "classic", "arm": arm, "entry": "commit",
        "exit": "join" if overtaken else "commit", "broker": "", "overtaken": overtaken,
        "state": "Stable", "error": "", "told": "", "kept": "", "in_log": not overtaken, "moved": [0],
        "read_from": {"0": 10}, "log_had": {"0": 10}, "first_fetch": {"0": 10},
        "twice": 20 * overtaken, "never": 0, "rebalances": 1, "ghosts": 0, "stall_ms": 100, "died": [],
        **other,
    }  # fmt: skip


def measured(*runs: dict[str, Any]) -> dict[str, Any]:
    arrows = [
        [0.0, "m", "proxy", "late"],
        [0.0, "proxy", "broker", "late"],
        [0.0, "m", "broker", "join"],
    ]
    return {"how": HOW, "runs": runs, "drawn": {"x": arrows}, "failed": []}


def test_runs_that_were_overtaken_are_counted_apart() -> None:
    arm = "same connection"
    text = report.write(
        measured(
            *(figures(arm, overtaken=True, error="REBALANCE_IN_PROGRESS") for _ in range(3)),
            figures(arm, overtaken=False),
        )
    )
    assert "| same connection | yes | 3 | 0 of 3 (0-56 %) | REBALANCE_IN_PROGRESS 3 |" in text
    assert "| same connection | no | 1 | 1 of 1 (21-100 %) | no error 1 |" in text
    assert (
        "on its own connection: it counted in 0 of 3 (0-56 %); records were read twice in 3 of 3"
        in text
    )
    assert "Where nothing overtook it" not in text


def test_runs_that_came_to_nothing_are_left_out_and_said() -> None:
    stuck = figures("no proxy", overtaken=False, stall_ms=None)
    unread = figures("no proxy", overtaken=False, never=3)
    died = figures("no proxy", overtaken=False, died=[["m", "died", "TimeoutError"]])
    text = report.write(measured(figures("no proxy", overtaken=False), stuck, unread, died))
    assert "| no proxy | no | 1 |" in text
    assert "- Kafka 0.11.0.1, classic, no proxy: 3" in text
    assert (
        plots.plots(measured(figures("no proxy", overtaken=False), stuck))[
            "stall-0.11.0.1-classic"
        ].count("<circle")
        == 1
    )


def test_where_the_new_owner_starts_is_compared_with_the_log() -> None:
    good = figures("other connection", overtaken=True)
    text = report.write(measured(good, {**good, "log_had": {"0": 20}, "first_fetch": {"0": 5}}))
    assert (
        "had at that time in 1 of 2 runs; its first Fetch of a partition began there in 1 of 2"
        in text
    )


def test_what_was_let_through_is_drawn_before_what_waited_for_it() -> None:
    text = report.write(measured(figures("no proxy", overtaken=False)))
    assert text.index("m->>broker: 0.0 ms: join") < text.index("proxy->>broker: 0.0 ms: late")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("version", ["0.11.0.1", "4.3.1"])
@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_each_arm_has_a_scenario_and_members(arm: Any, version: str, protocol: Any) -> None:
    rules = loads(scenario(arm, version, protocol)).rules
    assert bool(rules) == (arm.proxied and arm.name != "proxy without a rule")
    (members,) = groups(arm, ["g0000"], version, protocol).values()
    assert [one["settings"]["client.id"] for one in members][:2] == ["g0000.m", "g0000.a"]
    # a first one waits for nobody, and each of the others hears from somebody before it begins
    assert [one["steps"][0][0] == "hear" for one in members] == [False] + [True] * (
        len(members) - 1
    )
