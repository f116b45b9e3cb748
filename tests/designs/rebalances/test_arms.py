"""Each arm of the experiments with overtaken commits can be run."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.rebalances.arms import ARMS, groups, scenario
from barnabas.proxy.scenario.file import loads


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
