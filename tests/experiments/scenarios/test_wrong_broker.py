"""A connection that reaches another broker than the client means (KIP-1242), with brokers of Kafka 4.4."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.experiments.clients import trial, trial_setup, workloads
from barnabas.peers.apache import ApacheCluster, UnavailableError
from barnabas.peers.clients import registry
from tests.experiments.scenarios.kafka import ready
from tests.experiments.scenarios.trials import captured

pytestmark = [
    pytest.mark.needs_apache("4.4.0"),
    pytest.mark.slow("brokers start for one test"),
]


@pytest.fixture(scope="module")
def newer_cluster() -> Iterator[ApacheCluster]:
    """One broker of Kafka 4.4, which checks the id that a client sends."""
    try:
        with ApacheCluster("4.4.0", 1, timeout=60) as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))


@pytest.mark.parametrize("client", ["java@4.4.0", "franz-go@1.22.3"])
def test_a_producer_asks_for_metadata_and_connects_again(
    client: str, newer_cluster: ApacheCluster, tmp_path: Path
) -> None:
    program = registry.find(client).prepare()
    setup = trial_setup.TrialSetup(newer_cluster.bootstrap, tmp_path)
    workload = workloads.find("idempotent")
    result = trial.trial(program, workload, ready("wrong-broker"), setup, threading.Event())
    assert (result.raised, result.findings, result.unfinished) == ("", (), "")
    asked = captured(tmp_path, "ApiVersions", "Metadata")
    refused = [one for one in asked if one.rules]
    assert [one.error for one in refused] == ["REBOOTSTRAP_REQUIRED"] * 2
    for one in refused:
        later = [other for other in asked if other.ts > one.ts]
        assert {other.api for other in later} == {"ApiVersions", "Metadata"}
        assert one.connection not in {other.connection for other in later}
