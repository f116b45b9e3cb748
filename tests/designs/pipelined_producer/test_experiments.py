"""What the experiments with the pipelined producer say follows from their figures."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from barnabas.designs.pipelined_producer.experiments import handlers as pipelined_handlers
from barnabas.designs.pipelined_producer.experiments import metadata as pipelined_metadata
from barnabas.designs.pipelined_producer.experiments import serializing as pipelined_serializing
from barnabas.proxy.scenario.file import loads


@pytest.mark.parametrize("case", pipelined_metadata.CASES)
@pytest.mark.parametrize("latency", [0, 100])
def test_each_case_has_rules_that_can_be(case: str, latency: int) -> None:
    rules = loads(pipelined_metadata.scenario(case, latency)).rules
    assert len(rules) == bool(latency or case == pipelined_metadata.LEADERLESS)


def test_metadata_without_a_message_before_are_no_basis() -> None:
    with pytest.raises(ValueError, match="empty"):
        pipelined_metadata.stalls([pipelined_metadata.Ack(1.0, 2.0)], 0.5)


@pytest.mark.parametrize("scenario", [scenario for *_, scenario in pipelined_handlers.CASES])
def test_each_place_has_rules_that_can_be(scenario: str) -> None:
    rules = loads(scenario).rules
    assert [rule.name for rule in rules] == ["slow"] * len(rules)


def test_a_serialiser_s_cost_is_the_median_of_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    took, clock = itertools.cycle((1_000, 3_000, 80_000)), [0]

    def serializer(value: object) -> bytes:
        clock[0] += next(took)
        return b""

    time = SimpleNamespace(perf_counter_ns=lambda: clock[0])
    monkeypatch.setattr(pipelined_serializing, "time", time)
    assert pipelined_serializing.cost(b"", serializer) == 3.0
