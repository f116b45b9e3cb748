from __future__ import annotations

import pytest

from proxy.never import warnings
from proxy.scenario import loads


def found(rule: str) -> list[str]:
    return warnings(loads(f"version: 1\nrules: [{{name: r, {rule}}}]"))


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("match: {api: Fetch, acks: all}, do: close", "acks is about Produce requests"),
        ("match: {direction: response, acks: 1}, do: close", "acks is about Produce requests"),
        ("match: {direction: request, error: 3}, do: close", "no error code in any request"),
        ("match: {api: LeaderAndIsr, group: g}, do: close", "no group is named in LeaderAndIsr"),
        ("match: {api: Heartbeat, topic: t}, do: close", "no topic is named in Heartbeat message"),
        (
            "match: {api: Fetch, direction: request, version: 3}, where: rack_id == 'a', do: close",
            "no field 'rack_id' in the body of Fetch request v3",
        ),
        (
            "match: {api: Fetch, direction: request, version: 3}, do: {edit: {set: {rack_id: a}}}",
            "edit: no field 'rack_id' in the body of Fetch request v3",
        ),
        ("match: {direction: request}, do: {quota: 1s}", "quota can't be done to any request"),
        (
            "match: {api: Fetch}, do: {clamp: {versions: {Fetch: 1}}}",
            "clamp can't be done to Fetch",
        ),
        ("match: {api: Fetch}, do: {steer: {leader: 1}}", "steer can't be done to Fetch message"),
    ],
)
def test_rules_that_can_not_do_anything(rule: str, reason: str) -> None:
    (line,) = found(rule)
    assert line.startswith("warning: rule 'r' can't do anything: ")
    assert reason in line


@pytest.mark.parametrize(
    "rule",
    [
        "do: close",
        "do: refuse",
        "match: {acks: 0}, do: close",
        "match: {error: 3}, do: close",
        "match: {api: Heartbeat, direction: response, group: g}, do: close",
        "match: {api: Fetch, direction: request}, where: rack_id == 'a', do: close",
        "match: {api: Metadata}, do: {steer: {leader: 1}}",
    ],
)
def test_other_rules_are_fine(rule: str) -> None:
    assert found(rule) == []
