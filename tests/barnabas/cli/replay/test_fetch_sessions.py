"""`barnabas replay` of fetch sessions (KIP-227): what the live brokers are asked is what was recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.addresses import parse_servers
from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.peers.replay.connection import LiveConnection
from barnabas.specs.registry import api
from tests.barnabas.cli.replay.test_replay import produce, replay

pytestmark = pytest.mark.timeout(240)

FETCH = 1
RECORDS = 20

STEPS: tuple[tuple[dict[int, int], tuple[int, ...]], ...] = (
    ({0: 0, 1: 0}, ()),
    ({0: 10}, ()),
    ({1: 10}, ()),
    ({}, ()),
    ({1: 5}, (0,)),
    ({0: 3}, (1,)),
    ({}, ()),
)
"""Partition -> offset that are asked for anew, and partitions that are no longer wanted."""


def filled(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic("t", 2, 1)])["t"].result(30)
    produce(bootstrap, RECORDS)


async def follow_steps(bootstrap: str) -> None:
    """A consumer of one session, which takes what it is given without looking."""
    (address,) = parse_servers(bootstrap)
    connection = await LiveConnection.open(address)
    session = 0

    async def fetch(epoch: int, offsets: dict[int, int], forgotten: tuple[int, ...]) -> int:
        partitions = [
            {"partition": number, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
            for number, offset in offsets.items()
        ]
        body = {
            "max_wait_ms": 100,
            "min_bytes": 1,
            "session_id": session,
            "session_epoch": epoch,
            "topics": [{"topic": "t", "partitions": partitions}] if partitions else [],
            "forgotten_topics_data": [{"topic": "t", "partitions": list(forgotten)}]
            if forgotten
            else [],
        }
        future = connection.send(FETCH, 12, "steps", api(FETCH).request.codec(12).encode(body))
        assert future is not None
        response = api(FETCH).response.codec(12).decode(await future)
        assert response["error_code"] == 0
        return int(response["session_id"])

    for epoch, step in enumerate(STEPS):
        session = await fetch(epoch, *step)
        assert session
    await fetch(-1, {}, ())  # ends it
    await connection.close()


def record(cluster: ApacheCluster, path: Path) -> list[Exchange]:
    with Harness(cluster.bootstrap, capture=path) as proxy:
        asyncio.run(follow_steps(proxy.bootstrap))
        with JavaClient("3.9.1", {"bootstrap.servers": proxy.bootstrap}) as java:
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


def replayed(path: Path, bootstrap: str, *options: str) -> tuple[str, list[Exchange]]:
    """What a replay prints, and what it asks."""
    with Harness(bootstrap) as proxy:
        found = replay(path, proxy.bootstrap, "--speed", "max", *options)
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
        said, asked = replayed(path, cluster.bootstrap)
        assert fetches(asked) == recorded
        assert session_errors(asked) == []
        assert " Fetch " not in said  # none was answered otherwise
    assert [epoch for epoch, *_ in recorded["steps"]] == [*range(len(STEPS)), -1]
    assert len(recorded) == 2  # and the Java client's

    filled(kafka.bootstrap)
    said, asked = replayed(path, kafka.bootstrap)
    assert fetches(asked) == recorded
    assert session_errors(asked) == []
    assert " Fetch " not in said

    with EmbeddedCluster(1, topics={"t": 2}) as embedded:  # gives out no sessions
        produce(embedded.bootstrap, RECORDS)
        _, asked = replayed(path, embedded.bootstrap, "--filter", "client_id == 'steps'")
        places: dict[int, int] = {}
        whole: list[Any] = []
        for offsets, forgotten in STEPS:
            places |= offsets
            places = {one: offset for one, offset in places.items() if one not in forgotten}
            whole.append((0, set(places.items()), set()))
        assert fetches(asked) == {"steps": [*whole, (-1, set(), set())]}
