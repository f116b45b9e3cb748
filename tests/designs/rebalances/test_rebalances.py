"""What the experiments about rebalances make of made-up runs."""

from __future__ import annotations

from typing import Any

from barnabas.designs.rebalances.experiments import rebalance_duplicates, rebalance_waits
from tests.designs.rebalances import made


def test_when_a_member_gives_up_is_told_from_when_the_newcomer_reads() -> None:
    exchanges = [
        made.passed("m", "JoinGroup", 1, 0.5),
        made.passed("m", "LeaveGroup", 2, 1.5),
        made.passed("m", "JoinGroup", 3, 2.25),
        made.passed("m", "LeaveGroup", 4, 2.5),
        made.passed("a", "JoinGroup", 5, 1.5),
    ]
    members = {
        "m": [[1.0, "works"], [2.0, "worked"]],
        "a": [[1.1, "subscribes"], [2.6, "reads", "0-1"], [2.7, "reads", "0-2"]],
    }
    found = rebalance_waits.figures(made.run(exchanges)._replace(members=members))
    told = {"waited_ms": 1500, "gives_up_ms": 250, "reads_ms": 350, "joins": 2, "leaves": 1}
    assert found == told
    members["a"] = []
    found = rebalance_waits.figures(made.run(exchanges)._replace(members=members))
    assert found == {**told, "waited_ms": None, "reads_ms": None}


def waited(seconds: float, interval: float, ms: int, gives_up: int, leaves: int) -> dict[str, Any]:
    about = {"version": "0.11.0.1", "protocol": "classic", "seconds": seconds, "interval": interval}
    figures = {
        "waited_ms": ms,
        "gives_up_ms": gives_up,
        "reads_ms": 40,
        "leaves": leaves,
        "joins": 2,
    }
    return {**about, **figures}


def test_waits_are_held_against_the_work_and_the_interval() -> None:
    runs = [
        waited(2, 300, 2100, 0, 0),
        waited(2, 300, 1900, -900, 0),
        waited(8, 4, 4100, 20, 1),
    ]
    text = rebalance_waits.write({"runs": runs})
    assert "| 2 | 300 | 2 | 2000 (1900-2100) | -450 (-900-0) | 40 | 0 | 4 |" in text
    assert "In 1 of 2 runs m gave up nothing before its work was over (50 ms" in text
    assert "in 1 of 1 runs, and the member left the group by itself in 1." in text
    assert rebalance_waits.plots({"runs": runs})["waits"].count("<circle") == 2


def test_duplicates_are_counted_by_way_and_network() -> None:
    about = {"version": "0.11.0.1", "protocol": "classic", "network": "quick", "never": 0}
    one = {**about, "way": "commitAsync", "twice": 0, "stall_ms": 50, "died": []}
    runs = [one, {**one, "twice": 20}, {**one, "never": 3}]
    text = rebalance_duplicates.write({"how": {"each": 10}, "runs": runs})
    assert "| commitAsync | quick | 2 | 1 of 2 (9-91 %) | 10 (0-20) | 50 |" in text
    assert "Left out: 1 runs" in text
    late = {**one, "network": "commits 500 ms late", "stall_ms": 600}
    measured = {"how": {"each": 10}, "runs": [*runs, late, late]}
    text = rebalance_duplicates.write(measured)
    assert (
        "- commitAsync: records were read twice in 1 of 4 (5-70 %) runs over both networks." in text
    )
    assert "at once, 3 groups with two members each" in text
    (plot,) = rebalance_duplicates.plots(measured).values()
    assert plot.count("<circle") == 4
    assert "commitAsync, 500 ms late" in plot
