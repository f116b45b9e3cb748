"""Real programs count their lines: what reads a message that they got is reached, other parsers are not."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import REACHED
from barnabas.fuzz.coverage.jacoco import Jacoco
from barnabas.fuzz.coverage.lines import Reach
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.features import features
from barnabas.fuzz.engine.line_counts import count_lines, what_valid_shows
from barnabas.fuzz.targets.apache import ApacheService
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.clients.registry import client
from barnabas.specs.keys import DESCRIBE_CLUSTER, METADATA
from tests.fuzz.observed import case, request

CLUSTER = request(DESCRIBE_CLUSTER, 0, {"include_cluster_authorized_operations": True})


def _parsers(found: Reach) -> dict[str, bool]:
    return {unit.name: lines.reached > 0 for unit, lines in found.items() if unit.parser}


@pytest.mark.timeout(600)
@pytest.mark.slow("a broker with an agent, twice")
@pytest.mark.needs_apache("3.9.1")
def test_a_broker_counts_on_when_it_is_started_anew() -> None:
    service = ApacheService(ApacheSettings.of("3.9.1"))
    target = BrokerTarget(service, connections=2)
    count_lines(target)
    with target:
        assert isinstance(target.meter, Jacoco)
        assert target.meter.since()
        (one,) = target.run([case(CLUSTER)])
        assert one.replies
        passed = target.meter.since()
        assert any(key.name.endswith("/DescribeClusterRequestData") for key in passed)
        assert not any(
            key.name.endswith("/DescribeClusterRequestData") for key in target.meter.since()
        )
        pid = service.pid
        target.reset()
        assert service.pid != pid
        assert target.meter.since()
        names = {key.name.rpartition("/")[2] for key in target.meter.passed}
    assert "DescribeClusterRequestData" in names
    assert not any("/shaded/" in key.name for key in target.meter.passed)


@pytest.mark.timeout(600)
@pytest.mark.slow("sessions of a client, and reports of all that it is made of")
@pytest.mark.parametrize(
    ("name", "reached"),
    [
        pytest.param("kafka-python@2.3.1", "types.Int32.decode"),
        pytest.param(
            "franz-go@1.21.4",
            "generated.MetadataResponse.readFrom",
            marks=pytest.mark.needs_go("franz-go@1.21.4"),
        ),
        pytest.param(
            "java@3.9.1",
            "MetadataResponseData.read",
            marks=(
                pytest.mark.needs_apache("3.9.1"),
                pytest.mark.deep("reports of all its classes; the agent is the brokers'"),
            ),
        ),
    ],
)
def test_a_client_counts(name: str, reached: str) -> None:
    target = client(name)
    count_lines(target, guiding=True)
    with target:
        found_by = list(target.run([cook(Recipe(seed, ()), 0) for seed in seeds([(METADATA, 1)])]))
        facts: list[dict[str, Any]] = [dict(one.facts) for one in found_by]
        news = [set(one.get(REACHED, ())) for one in facts]
        assert news[0]
        assert news[0] <= features(found_by[0])
        found = target.reached()
        first = _parsers(found)
        what_valid_shows(target, seeds([(METADATA, 1)]))
        second = _parsers(target.reached())
        known: set[str] = set()
        for new in news:
            assert not new & known
            known |= new
    assert first[reached]
    assert not all(first.values())
    assert not any("shaded" in unit.package for unit in found)
    assert {parser for parser, is_ in first.items() if is_} <= {
        p for p, is_ in second.items() if is_
    }
