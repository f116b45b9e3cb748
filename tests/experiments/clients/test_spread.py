"""The workloads with which scenarios are run."""

from __future__ import annotations

from collections import Counter

from barnabas.experiments.clients.spread import spread
from barnabas.proxy.scenario.file import Scenario, loads


def scenario(*apis: str) -> Scenario:
    rules = ", ".join(f"{{name: {api}, match: {{api: {api}}}, do: drop}}" for api in apis)
    return loads(f"version: 1\nrules: [{rules}]")


REQUESTED = {
    "produce": {("Produce", 9)},
    "transact": {("Produce", 9), ("EndTxn", 3)},
    "group": {("Fetch", 12)},
    "assign": {("Fetch", 12)},
}


def test_a_scenario_runs_with_the_workloads_that_most_of_its_rules_match() -> None:
    chosen = spread([("s", scenario("Produce", "EndTxn"))], REQUESTED, 1)
    assert chosen == {"s": {"transact"}}


def test_workloads_take_turns() -> None:
    named = [(str(number), scenario("Fetch")) for number in range(10)]
    counts = Counter(name for names in spread(named, REQUESTED, 1).values() for name in names)
    assert counts == {"group": 5, "assign": 5}


def test_a_scenario_that_nobody_meets_has_no_workload() -> None:
    assert spread([("s", scenario("Heartbeat"))], REQUESTED, 3) == {"s": frozenset()}


def test_there_are_no_more_workloads_than_fit() -> None:
    assert spread([("s", scenario("Produce"))], REQUESTED, 3) == {"s": {"produce", "transact"}}
