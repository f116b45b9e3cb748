"""What the experiments about rebalances make of made-up runs."""

from __future__ import annotations

from barnabas.designs.rebalances.experiments import rebalance_waits
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
