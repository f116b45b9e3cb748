"""What a client asks without faults says whether a ready scenario has something to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.experiments.clients.relevance import may_affect, point
from barnabas.experiments.library import find, names
from barnabas.proxy.scenario.file import load
from barnabas.specs.registry import NAMES, api

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


LATEST = {(name, api(key).versions[1]) for key, name in NAMES.items()}


@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        ("pipelined-produce", [{"one of those under way is refused"}]),
        ("slow-consumer", [{"sessions are short"}, {"a heartbeat later than the session"}]),
        ("commit-after-join", [{"commits arrive after the join"}]),
        ("partitions-added", [{"the last partition is not there yet"}]),
        ("coordinator-fails-1-notified", [{"another one is looked for"}]),
        ("slow-fetches", [{"slow fetches"}]),
        (
            "not-enough-replicas",
            [{"too few replicas are in sync", "stored, but on too few replicas"}],
        ),
    ],
)
def test_the_point_is_no_preparation_and_no_chance(scenario: str, names: list[set[str]]) -> None:
    assert [*map(set, point(load(find(Path(scenario))), LATEST))] == names


def test_rules_for_requests_that_the_client_does_not_send_are_not_the_point() -> None:
    scenario = load(find(Path("server-error")))
    assert [*map(set, point(scenario, {("Produce", 9)}))] == [{"produced, and an unexpected error"}]


@pytest.mark.parametrize("scenario", names())
def test_each_scenario_has_a_point(scenario: str) -> None:
    loaded = load(find(Path(scenario)))
    requested = {(name, version) for name, latest in LATEST for version in range(latest + 1)}
    assert bool(point(loaded, requested)) == may_affect(loaded, requested)
