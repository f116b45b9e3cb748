"""`barnabas replay` of a run against Apache Kafka: transactions, groups, 20,000 records."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import trustme
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.replay.test_replay import content, produce, replay
from tests.experiments.scenarios.kafka import led
from tests.real.secured import PASSWORD, SCRAM_PASSWORD, secured, settings
from tests.waiting import until

pytestmark = pytest.mark.timeout(240)

IN_GROUPS = 400

SESSION_MS = 2000
"""How long a session of SASL lasts."""

GROUPS = ("g", "new")
"""The group of the classic protocol, and that of KIP-848."""

BY_TIMING = ("CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE")
"""Errors of a cluster that is not ready yet: in one run they come, in another one not."""


REBALANCE_IN_PROGRESS = 27

LOADING = ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE")
"""Errors of a coordinator that is not ready yet."""


def topics(bootstrap: str, *names: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    made = admin.create_topics([NewTopic(name, 2, 1) for name in names])
    for future in made.values():
        future.result(30)
    for name in names:
        until(functools.partial(led, admin, name, 2), f"{name} has leaders")


def leaders(bootstrap: str) -> int:
    """How many brokers lead the partitions of a topic."""
    result = AdminClient({"bootstrap.servers": bootstrap}).list_topics("t", timeout=30)
    return len({partition.leader for partition in result.topics["t"].partitions.values()})


def transactions(bootstrap: str) -> None:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": "tx", "client.id": "tx"}
    )
    producer.init_transactions(30)
    for number in range(4):
        producer.begin_transaction()
        for value in range(10):
            producer.produce("u", f"{number}-{value}", partition=value % 2)
        producer.flush(30)
        if number == 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)


def members(bootstrap: str, group: str, **settings: Any) -> None:
    """Two members of a group read all; the last ones to come may get nothing."""
    results = [0, 0]

    def member(number: int) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "client.id": f"{group}-{number}",
                "auto.offset.reset": "earliest",
                **settings,
            }
        )
        consumer.subscribe(["t"])
        until = time.monotonic() + 60
        while sum(results) < IN_GROUPS and time.monotonic() < until:
            message = consumer.poll(0.1)
            results[number] += message is not None and message.error() is None
        if results[number]:
            consumer.commit(asynchronous=False)
        consumer.close()

    with ThreadPoolExecutor() as pool:
        list(pool.map(member, range(2)))
    assert sum(results) == IN_GROUPS


def committed(bootstrap: str, group: str) -> list[int]:
    """What a group has committed, once its coordinator is ready to say."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    places = [TopicPartition("t", number) for number in (0, 1)]
    results: list[int] = []

    def said() -> bool:
        try:
            results[:] = [place.offset for place in consumer.committed(places, timeout=30)]
        except KafkaException as problem:
            if problem.args[0].name() not in LOADING:
                raise
        return bool(results)

    until(said, f"what {group} has committed")
    consumer.close()
    return results


def record(version: str, path: Path, run: Callable[[str], None]) -> Any:
    """A run against a cluster; what was in its topics then.

    Both groups have their coordinators before it begins: a refusal of one that is still loading would
    be recorded, and no replay would meet it again.
    """
    with ApacheCluster(version) as cluster:
        topics(cluster.bootstrap, "t", "u")
        for group in GROUPS:
            committed(cluster.bootstrap, group)
        with Harness(cluster.bootstrap, capture=path) as proxy:
            run(proxy.bootstrap)
        return state(cluster.bootstrap)


def state(bootstrap: str) -> Any:
    return (
        content(bootstrap),
        content(bootstrap, "u"),
        [committed(bootstrap, group) for group in GROUPS],
    )


def replayed(version: str, path: Path, nodes: int = 1) -> tuple[Any, list[dict[str, Any]], str]:
    with ApacheCluster(version, nodes, timeout=30 + 30 * nodes) as cluster:
        topics(cluster.bootstrap, "t", "u")
        assert leaders(cluster.bootstrap) == min(nodes, 2)
        result = replay(path, cluster.bootstrap, "--speed", "max", "--json")
        assert result.returncode == (1 if result.rows else 0), result.stderr
        return state(cluster.bootstrap), result.rows, result.stderr


def unexplained(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["recorded"]["error"] not in BY_TIMING and not overtaken(row)]


def overtaken(row: dict[str, Any]) -> bool:
    """Whether another member's JoinGroup, which was under way at the same time, came before it in one run
    and behind it in the other."""
    differences = row["response"] or []
    return row["recorded"]["api"] in ("SyncGroup", "Heartbeat") and any(
        one["path"] == "error_code" and REBALANCE_IN_PROGRESS in (one["live"], one["recorded"])
        for one in differences
    )


@pytest.mark.needs_apache("3.9.1", "4.3.1")
def test_producers_transactions_and_groups(tmp_path: Path) -> None:
    def run(bootstrap: str) -> None:
        produce(bootstrap, IN_GROUPS)
        transactions(bootstrap)
        members(bootstrap, "g")

    path = tmp_path / "run.pcapng"
    before = record("3.9.1", path, run)
    for version, nodes in (("3.9.1", 1), ("4.3.1", 2)):
        after, rows, said = replayed(version, path, nodes)
        assert after == before, f"{version}: {json.dumps(rows)} {said}"
        assert unexplained(rows) == [], (said, json.dumps(unexplained(rows)))


@pytest.mark.needs_apache("4.3.1")
def test_groups_with_heartbeats_of_their_own(tmp_path: Path) -> None:
    def run(bootstrap: str) -> None:
        produce(bootstrap, IN_GROUPS)
        members(bootstrap, "new", **{"group.protocol": "consumer"})

    path = tmp_path / "run.pcapng"
    before = record("4.3.1", path, run)
    after, rows, said = replayed("4.3.1", path)
    assert after == before
    assert unexplained(rows) == [], (said, json.dumps(unexplained(rows)))


@pytest.mark.needs_apache("3.9.1")
def test_over_tls_with_sasl(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    with (
        EmbeddedCluster(2, topics={"t": 2}) as embedded,
        Harness(embedded.bootstrap, capture=path) as proxy,
    ):
        few = {"batch.num.messages": 10, "max.in.flight": 1, "enable.idempotence": False}
        produce(proxy.bootstrap, IN_GROUPS, **few)
    first, *_, last = sorted(one.ts for one in proxy.exchanges if one.api == "Produce")
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    sessions = {"connections.max.reauth.ms": str(SESSION_MS)}
    with ApacheCluster("3.9.1", settings=settings(ca) | sessions, timeout=60) as cluster:
        topics(cluster.bootstrap, "t")
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        upsertion = UserScramCredentialUpsertion("bob", scram, SCRAM_PASSWORD.encode())
        for future in admin.alter_user_scram_credentials([upsertion]).values():
            future.result(30)

        def asked(mechanism: str, user: str, password: str, *options: str) -> tuple[int, str]:
            file = tmp_path / "password"
            file.write_text(password + "\n")
            sasl = ("--sasl-mechanism", mechanism, "--sasl-username", user)
            result = replay(
                path,
                secured(cluster),
                *("--filter", "api == 'Produce'", "--broker-ca", str(tmp_path / "ca.pem")),
                *sasl,
                *options,
                *("--sasl-password-file", str(file)),
            )
            return result.returncode, result.stdout + result.stderr

        code, said = asked("SCRAM-SHA-256", "bob", "wrong", "--speed", "max")
        assert code == 3
        assert "not authenticated" in said
        slow = f"{(last - first) / 1e6 / (SESSION_MS * 2.5):.9f}"
        for count, user in enumerate(
            (
                ("PLAIN", "alice", PASSWORD, "--speed", "max"),
                ("SCRAM-SHA-256", "bob", SCRAM_PASSWORD, "--speed", slow),  # sessions end meanwhile
            ),
            start=1,
        ):
            code, said = asked(*user)
            assert "0 without a response, 0 not replayable" in said
            records = content(cluster.bootstrap)
            assert [len(result) for result in records.values()] == [IN_GROUPS / 2 * count] * 2
