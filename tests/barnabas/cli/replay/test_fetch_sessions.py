"""`barnabas replay` of fetch sessions (KIP-227): what the live brokers are asked is what was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.barnabas.cli.replay.test_replay import produce, replay
from tests.peers.java.client import FullClient

pytestmark = pytest.mark.timeout(240)

FETCH = 1
RECORDS = 20


def filled(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic("t", 2, 1)])["t"].result(30)
    produce(bootstrap, RECORDS)


def record(cluster: ApacheCluster, path: Path) -> list[Exchange]:
    with (
        Harness(cluster.bootstrap, capture=path) as proxy,
        FullClient("3.9.1", {"bootstrap.servers": proxy.bootstrap}) as java,
    ):
        assert len(java.consume("t", RECORDS, group="g")) == RECORDS
    return proxy.exchanges


def fetches(exchanges: Iterable[Exchange]) -> dict[str | None, list[Any]]:
    """By client, in order: epoch, what is asked for, and what is forgotten."""
    found: dict[str | None, list[Any]] = {}
    for exchange in sorted(exchanges, key=lambda exchange: exchange.ts):
        if exchange.key == FETCH:
            request = exchange.request
            assert request is not None
            asked = {
                (one["partition"], one["fetch_offset"])
                for topic in request["topics"]
                for one in topic["partitions"]
            }
            gone = {
                one for topic in request["forgotten_topics_data"] for one in topic["partitions"]
            }
            found.setdefault(exchange.client_id, []).append((request["session_epoch"], asked, gone))
    return found


def session_errors(exchanges: Iterable[Exchange]) -> list[str]:
    return [exchange.error for exchange in exchanges if exchange.key == FETCH and exchange.error]


def replayed(path: Path, bootstrap: str) -> tuple[str, list[Exchange]]:
    """What a replay prints, and what it asks."""
    with Harness(bootstrap) as proxy:
        found = replay(path, proxy.bootstrap, "--speed", "max")
    assert "0 without a response, 0 not replayable" in found.stderr, found.stdout + found.stderr
    return found.stdout, proxy.exchanges


@pytest.mark.needs_apache("3.9.1", "4.3.1")
def test_the_same_is_asked_in_sessions_of_the_live_brokers(
    kafka: ApacheCluster, tmp_path: Path
) -> None:
    path = tmp_path / "run.pcapng"
    with ApacheCluster("3.9.1") as cluster:
        filled(cluster.bootstrap)
        recorded = fetches(record(cluster, path))
    (epochs,) = ([epoch for epoch, *_ in asked] for asked in recorded.values())
    assert max(epochs) > 0
    filled(kafka.bootstrap)
    said, asked = replayed(path, kafka.bootstrap)
    assert fetches(asked) == recorded
    assert session_errors(asked) == []
    assert " Fetch " not in said  # none was answered otherwise
