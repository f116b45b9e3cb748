from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.pipelined_producer.experiments import handlers as pipelined_handlers
from barnabas.designs.pipelined_producer.experiments import metadata as pipelined_metadata
from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import Event, Outcome, Settings
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.proxy.scenario.file import loads
from barnabas.specs.keys import PRODUCE
from barnabas.testing.kafka_proxy import start_proxy

pytest.importorskip("confluent_kafka")


def told(*offsets: int, partition: int = 0) -> list[Outcome]:
    """Messages 0, 1, 2 and so on, at these offsets."""
    return [
        Outcome(Event("t", None, b"%05d" % number, 0.0, partition), offset)
        for number, offset in enumerate(offsets)
    ]


def test_order_is_that_of_offsets_in_each_partition() -> None:
    assert producer_runs.in_order(told(0, 1, 5))
    assert not producer_runs.in_order(told(0, 2, 1))
    assert producer_runs.in_order([*told(5, 6), *told(1, 2, partition=1)])
    refused = told(0, 2, 1)
    refused[1] = refused[1]._replace(problem="expired")
    assert producer_runs.in_order(refused)


def test_a_run_and_what_its_capture_says(tmp_path: Path) -> None:
    scenario = """
version: 1
rules: [{name: far, match: {api: Produce, direction: response}, do: {delay: 100ms}}]
"""
    with EmbeddedCluster(2) as cluster:
        with start_proxy(cluster.bootstrap, tmp_path, scenario=scenario) as proxy:
            host, port = proxy.bootstrap_server.rsplit(":", 1)
            address = host, int(port)
            make_topic([address], "t")
            settings = Settings(in_flight=3, batch_messages=2)
            found = producer_runs.produce(address, "mine", settings, "t", range(4), 60)
        assert (found["messages"], found["in_order"], found["problems"]) == (60, True, {})
        assert found["seconds"] > 0.1
        exchanges = producer_runs.produced(proxy.capture)["mine"]
    assert producer_runs.most_under_way(exchanges, by_connection=True) <= 3
    leaders = len({one.broker for one in exchanges})  # librdkafka's mock draws them
    assert producer_runs.most_under_way(exchanges, by_connection=False) <= 3 * leaders


def test_requests_are_in_flight_from_their_beginning_until_their_answers() -> None:
    exchanges = [
        Exchange(at * 1_000_000, connection, "a:1", "me", 1, PRODUCE, 3, 1, 10, latency_ms=latency)
        for at, connection, latency in (
            (0, 1, 10),
            (5, 1, 10),
            (10, 1, 5),
            (9, 2, 1),
            (30, 2, None),
        )
    ]
    found = producer_runs.in_flight_counts(exchanges)
    assert found == {"requests": 5, "in_flight": 2, "in_flight_total": 3}
    assert producer_runs.most_under_way([], by_connection=True) == 0


@pytest.mark.parametrize("case", pipelined_metadata.CASES)
@pytest.mark.parametrize("latency", [0, 100])
def test_each_case_has_rules_that_can_be(case: str, latency: int) -> None:
    rules = loads(pipelined_metadata.scenario(case, latency)).rules
    assert len(rules) == bool(latency or case == pipelined_metadata.LEADERLESS)


@pytest.mark.parametrize("scenario", [scenario for *_, scenario in pipelined_handlers.CASES])
def test_each_place_has_rules_that_can_be(scenario: str) -> None:
    rules = loads(scenario).rules
    assert [rule.name for rule in rules] == ["slow"] * len(rules)
