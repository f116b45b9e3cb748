"""What the experiments with the pipelined producer say follows from their figures."""

from __future__ import annotations

import pytest

from barnabas.designs.pipelined_producer.experiments import handlers as pipelined_handlers
from barnabas.designs.pipelined_producer.experiments import metadata as pipelined_metadata
from barnabas.proxy.scenario.file import loads


@pytest.mark.parametrize("case", pipelined_metadata.CASES)
@pytest.mark.parametrize("latency", [0, 100])
def test_each_case_has_rules_that_can_be(case: str, latency: int) -> None:
    rules = loads(pipelined_metadata.scenario(case, latency)).rules
    assert len(rules) == bool(latency or case == pipelined_metadata.LEADERLESS)


@pytest.mark.parametrize("scenario", [scenario for *_, scenario in pipelined_handlers.CASES])
def test_each_place_has_rules_that_can_be(scenario: str) -> None:
    rules = loads(scenario).rules
    assert [rule.name for rule in rules] == ["slow"] * len(rules)
