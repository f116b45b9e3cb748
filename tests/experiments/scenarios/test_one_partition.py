"""One partition of several is refused, and the others are not."""

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
    pytest.mark.needs_apache("4.3.1"),
    pytest.mark.slow("a client works for seconds"),
]


@pytest.fixture(scope="module")
def one_broker() -> Iterator[ApacheCluster]:
    """A broker that leads all partitions, so that a request has several."""
    try:
        with ApacheCluster("4.3.1", 1, timeout=60) as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))


WRITTEN = "partition 0 of a write has moved"
READ = {"partition 0 of a read has moved", "the end of partition 0 is elsewhere"}


@pytest.mark.parametrize("client", ["java@4.3.1", "confluent-kafka@2.16.1"])
def test_refused_batches_are_sent_again_and_no_others(
    client: str, one_broker: ApacheCluster, tmp_path: Path
) -> None:
    result = run(client, "burst", one_broker, tmp_path)
    assert (result.raised, result.findings, result.unfinished) == ("", (), "")
    refused = [one for one in captured(tmp_path, "Produce") if WRITTEN in one.rules]
    assert refused
    several = [one for one in refused if len(codes(one.response or {})) > 1]
    # librdkafka sends one partition a request
    assert bool(several) == client.startswith("java")
    for one in refused:
        told = codes(one.response or {})
        assert told.pop(0) == 6
        assert 6 not in told.values()


@pytest.mark.parametrize("client", ["java@4.3.1", "confluent-kafka@2.16.1"])
def test_a_group_reads_all_partitions_once(
    client: str, one_broker: ApacheCluster, tmp_path: Path
) -> None:
    result = run(client, "group", one_broker, tmp_path)
    assert (result.raised, result.findings, result.unfinished) == ("", (), "")
    fired = {rule for one in captured(tmp_path, "Fetch", "ListOffsets") for rule in one.rules}
    assert fired == READ


def run(client: str, workload: str, cluster: ApacheCluster, folder: Path) -> trial.Trial:
    """Run a workload under the scenario."""
    program, work = registry.find(client).prepare(), workloads.find(workload)
    setup = trial_setup.TrialSetup(cluster.bootstrap, folder)
    return trial.trial(program, work, ready("one-partition-moves"), setup, threading.Event())


def codes(response: dict[str, object]) -> dict[int, int]:
    """Return the error code of each partition in a Produce response."""
    topics: object = response["responses"]
    assert isinstance(topics, list)
    return {
        entry["index"]: entry["error_code"]
        for topic in topics
        for entry in topic["partition_responses"]
    }
