"""What tests with real brokers share: one cluster and one process of Java clients for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.peers.apache import ApacheCluster, UnavailableError
from tests.experiments.scenarios.bench import SASL
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import BROKERS, SETTINGS, VERSION


@pytest.fixture(scope="session")
def cluster() -> Iterator[ApacheCluster]:
    """Three brokers of Apache Kafka; a test makes topics of its own."""
    try:
        with ApacheCluster(VERSION, BROKERS, settings=SETTINGS | SASL, timeout=60) as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))


@pytest.fixture(scope="session")
def java() -> Iterator[ScenarioClient]:
    """Java clients of the brokers' version; each call says in its settings where the brokers are."""
    try:
        with ScenarioClient(VERSION, {}) as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))
