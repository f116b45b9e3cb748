"""What a client asks without faults says whether a ready scenario has something to do."""

from __future__ import annotations

from pathlib import Path

from barnabas.experiments.clients.relevance import may_affect
from barnabas.experiments.library import find
from barnabas.proxy.scenario.file import load

ADMIN = {("ApiVersions", 4), ("CreateTopics", 7), ("Metadata", 13)}
GROUP = {("Fetch", 18), ("FindCoordinator", 6), ("Heartbeat", 4), ("JoinGroup", 9), *ADMIN}


def meets(scenario: str, asked: set[tuple[str, int]]) -> bool:
    return may_affect(load(find(Path(scenario))), asked)


def test_a_fault_that_would_never_end_is_not_met() -> None:
    assert meets("partitions-added", GROUP)
    assert not meets("partitions-added", ADMIN)


def test_rules_may_begin_and_end_with_each_other() -> None:
    assert meets("coordinator-moves", GROUP)
    assert not meets("coordinator-moves", ADMIN)
    assert not meets("coordinator-moves", GROUP - {("FindCoordinator", 6)})


def test_a_rule_about_connections_is_always_met() -> None:
    assert meets("flapping-network", ADMIN)
