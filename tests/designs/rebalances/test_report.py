"""The text follows from the figures."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.rebalances import report
from barnabas.designs.rebalances.arms import ARMS, groups, scenario
from barnabas.proxy.scenario.file import loads

HOW = {"cases": [], "each": 10, "awaited": 3.0, "at_once": 25}


def figures(arm: str, *, overtaken: bool, **other: Any) -> dict[str, Any]:
    return {
        "version": "0.11.0.1", "protocol": "classic", "arm": arm, "entry": "commit",
        "exit": "join" if overtaken else "commit", "broker": "", "overtaken": overtaken,
        "state": "Stable", "error": "", "told": "", "kept": "", "in_log": not overtaken, "moved": [0],
        "session": 6.0,
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
    assert (
        "| same connection | yes | 3 | 0 of 3 (0-56 %) | 0 of 3 (0-56 %) | REBALANCE_IN_PROGRESS 3 |"
        in text
    )
    assert "| same connection | no | 1 | 1 of 1 (21-100 %) | 0 of 1 (0-79 %) | no error 1 |" in text
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
        report.plots(measured(figures("no proxy", overtaken=False), stuck))[
            "stall-0.11.0.1-classic"
        ].count("<circle")
        == 1
    )


def test_sessions_and_what_a_late_commit_puts_back_are_said() -> None:
    same = figures("same connection", overtaken=True)
    late = figures(
        "listener, other, awaited",
        overtaken=True,
        kept="0@10 first, 0@30 revoked, 0@20 async-17",
        in_log=True,
        session=26.0,
    )
    text = report.write(measured(same, late))
    assert "A session is 6 s in `same connection`; 26 s in `listener, other, awaited`." in text
    assert "other, awaited, overtaken: it put a newer offset back in 1 of 1 (21-100 %);" in text
    assert "takes 3 s longer" in text
    text = report.write(measured(same))
    assert "A session is 6 s." in text
    assert "s longer" not in text
    before = {**same}
    del before["session"]
    assert "A session is" not in report.write(measured(before))


def test_the_consumer_protocol_has_no_join_group_and_that_is_said() -> None:
    own = figures("same connection", overtaken=True, protocol="consumer")
    assert "takes the place of its JoinGroup" in report.write(measured(own))
    assert "takes the place of" not in report.write(measured({**own, "protocol": "classic"}))


def test_polls_that_ended_early_are_said_only_if_some_did() -> None:
    arm = "same, answers not put back"
    late = figures(arm, overtaken=True, died=[["m", "died", "Late"]])
    early = figures(arm, overtaken=False, exit="", died=[["m", "died", "Early"]])
    assert "in 1 runs m's poll ended with Late 1." in report.write(measured(late))
    both = report.write(measured(late, early))
    assert (
        "in 1 runs m's poll ended with Late 1; in 1 more it ended before it joined (Early 1)"
        in both
    )


def test_why_a_member_was_lost_is_said_only_of_runs_that_lost_one() -> None:
    arm = "same, answers not put back"
    lost = figures(arm, overtaken=False, protocol="consumer", ghosts=1, twice=40)
    kept = {**lost, "ghosts": 0, "twice": 0}
    said = report.write(measured(lost, lost, kept))
    assert "In the 3 where nothing overtook the commit" in said
    assert "In 2 of them the broker therefore dropped m" in said
    assert "the next owner began there: 40 records were read twice." in said
    for others in (kept, {**lost, "protocol": "classic"}, {**lost, "arm": "no proxy"}):
        assert "one off" not in report.write(measured(others))


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
