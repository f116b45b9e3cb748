"""What is done to the traffic of real clients shows, in the check that it should show in, and in no other.

That healthy clients show nothing is tried with all of the compatibility table (tests/compat).
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Finding
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.cli.plugins.checks import chosen
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.proxy.scenario.file import loads

PATIENCE = 20.0
RECORDS = 30

RULE = """
version: 1
rules:
  - name: it
    match: {{api: {api}, direction: {direction}}}
    when: {{skip: {skip}, times: 1, scope: rule}}
    do: {do}
"""


def rule(do: str, api: str = "Produce", direction: str = "request", skip: int = 2) -> str:
    return RULE.format(api=api, direction=direction, skip=skip, do=do)


def findings(capture: Path, *settings: str) -> list[tuple[str, Finding]]:
    """By check; notes left out."""
    exchanges = Conversations(strays=True).exchanges(CaptureReader(capture))
    found = run(exchanges, chosen(CHECKS, settings=settings))
    return [(check.name, finding) for check, finding in found if finding.severity != "note"]


def names(found: list[tuple[str, Finding]]) -> set[str]:
    return {name for name, _ in found}


def send(bootstrap: str, **settings: Any) -> list[int]:
    """A record a request, several in flight; the offsets of those that were taken, as told."""
    offsets: list[int] = []

    def told(problem: Any, message: Any) -> None:
        if problem is None:
            offsets.append(message.offset())

    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "linger.ms": 0,
            "batch.num.messages": 1,
            "message.timeout.ms": 5000,
            "socket.timeout.ms": 2000,
            **settings,
        }
    )
    topic = f"t-{uuid.uuid4().hex[:8]}"
    deadline = time.monotonic() + PATIENCE
    while producer.list_topics(topic, timeout=PATIENCE).topics[topic].error:
        assert time.monotonic() < deadline, "no topic"
        time.sleep(0.05)
    for number in range(RECORDS):
        producer.produce(topic, f"v{number}", partition=0, on_delivery=told)
    producer.flush(PATIENCE)
    return offsets


PATIENT = {"message.timeout.ms": 60_000, "socket.timeout.ms": 30_000}
"""A request that waits for the next one does not time out first."""

IDEMPOTENT = {"enable.idempotence": True}

SLOWLY = """
  - name: the next requests are sent before this answer comes
    match: {api: Produce, direction: response}
    do: {delay: 200ms}
"""
"""What a rule does to one of several requests in flight shows only if there are several."""


@pytest.fixture(scope="module")
def embedded() -> Iterator[str]:
    with EmbeddedCluster(1) as cluster:
        yield cluster.bootstrap


@pytest.fixture
def apache(kafka: ApacheCluster) -> str:
    return kafka.bootstrap


@pytest.mark.parametrize(
    ("scenario", "settings", "speaking"),
    [
        (rule("{reorder: {swap: 1, at_most: 10s}}"), PATIENT, {"order"}),
        (rule("{respond: {error: NOT_ENOUGH_REPLICAS}}"), {}, {"order"}),
        (rule("{drop: {selective: true}}"), {}, {"order", "responses"}),
        (rule("{delay: 100ms}"), {}, set()),
    ],
)
def test_producers(
    embedded: str, tmp_path: Path, scenario: str, settings: dict[str, Any], speaking: set[str]
) -> None:
    capture = tmp_path / "run.pcapng"
    with Harness(embedded, scenario=loads(scenario + SLOWLY), capture=capture) as proxy:
        send(proxy.bootstrap, **settings)
        assert proxy.rules.rules[0].fired == 1
    assert names(findings(capture)) & {"order", "responses"} == speaking


def _consumer(bootstrap: str, group: str, topic: str, **settings: Any) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 100,
            **settings,
        }
    )
    consumer.subscribe([topic])
    return consumer


def _read(consumer: Consumer, count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while count > 0:
        assert time.monotonic() < deadline, f"{count} records are missing"
        count -= sum(not one.error() for one in consumer.consume(100, timeout=0.1))


def _topic(bootstrap: str) -> str:
    topic = f"t-{uuid.uuid4().hex[:8]}"
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for number in range(RECORDS):
        producer.produce(topic, f"v{number}")
    assert producer.flush(PATIENCE) == 0
    return topic


@pytest.mark.needs_apache("4.3.1")
def test_a_real_broker_refuses_what_overtakes(apache: str, tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    scenario = loads(rule("{reorder: {swap: 1, at_most: 1s}}") + SLOWLY)
    with (
        Harness(apache, scenario=scenario, capture=capture) as proxy,
        contextlib.suppress(KafkaException, SystemError),  # librdkafka gives up for good
    ):
        send(proxy.bootstrap, **IDEMPOTENT)
    found = findings(capture)
    assert names(found) == {"sequences"}
    assert "was rejected as out of order" in found[0][1].what


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.parametrize(
    "scenario",
    [
        rule("lose_reply", direction="response"),
        rule("{respond: {error: NOT_ENOUGH_REPLICAS}}"),
        rule("close", direction="response"),
        rule("duplicate"),
    ],
)
def test_idempotent_producers_get_over_it(apache: str, tmp_path: Path, scenario: str) -> None:
    capture = tmp_path / "run.pcapng"
    with Harness(apache, scenario=loads(scenario), capture=capture) as proxy:
        assert send(proxy.bootstrap, **IDEMPOTENT) == list(range(RECORDS))
        assert proxy.rules.rules[0].fired == 1
    assert findings(capture) == []


@pytest.mark.needs_apache("4.3.1")
def test_a_commit_of_another_generation(apache: str, tmp_path: Path) -> None:
    topic = _topic(apache)
    capture = tmp_path / "run.pcapng"
    stale = "{edit: {set: {generation_id_or_member_epoch: 0}}}"
    scenario = loads(rule(stale, api="OffsetCommit", skip=0))
    with Harness(apache, scenario=scenario, capture=capture) as proxy:
        consumer = _consumer(proxy.bootstrap, uuid.uuid4().hex, topic)
        _read(consumer, RECORDS)
        with pytest.raises(KafkaException, match="ILLEGAL_GENERATION"):
            consumer.commit(asynchronous=False)
        consumer.close()
    ((name, finding),) = findings(capture)
    assert name == "commits"
    assert "was rejected: ILLEGAL_GENERATION" in finding.what


@pytest.mark.needs_apache("4.3.1")
def test_a_rebalance_that_waits_for_a_busy_member(apache: str, tmp_path: Path) -> None:
    topic, group = _topic(apache), uuid.uuid4().hex
    capture = tmp_path / "run.pcapng"

    def revoked(consumer: Consumer, partitions: list[Any]) -> None:
        """Asks for the application's say: it joins again only when it polls."""

    heartbeats = {"heartbeat.interval.ms": 200}
    with Harness(apache, capture=capture) as proxy:
        busy = Consumer(
            {
                "bootstrap.servers": proxy.bootstrap,
                "client.id": "busy",
                "group.id": group,
                "auto.offset.reset": "earliest",
                **heartbeats,
            }
        )
        busy.subscribe([topic], on_revoke=revoked)
        _read(busy, RECORDS)
        newcomer = _consumer(proxy.bootstrap, group, topic, **heartbeats, **{"client.id": "new"})
        _until(
            lambda: any(
                one.api == "JoinGroup" and one.client_id == "new" for one in proxy.exchanges
            ),
            lambda: newcomer.poll(0.1),
        )
        time.sleep(1.5)  # that is how busy it is
        _until(
            lambda: any(
                one.api == "SyncGroup" and one.client_id == "new" for one in proxy.exchanges
            ),
            lambda: (busy.poll(0.1), newcomer.poll(0.1)),
        )
        newcomer.close()
        busy.close()
    assert findings(capture, "joins.longest_ms=60000") == []
    (name, finding), *_ = findings(capture, "joins.longest_ms=1000")
    assert name == "joins"
    assert "(busy) joined last" in finding.what


@pytest.mark.needs_apache("4.3.1")
def test_members_of_kip_848_show_nothing(apache: str, tmp_path: Path) -> None:
    topic, group = _topic(apache), uuid.uuid4().hex
    capture = tmp_path / "run.pcapng"
    protocol = {"group.protocol": "consumer"}
    with Harness(apache, capture=capture) as proxy:
        first = _consumer(proxy.bootstrap, group, topic, **protocol)
        _read(first, RECORDS)
        first.commit(asynchronous=False)
        second = _consumer(proxy.bootstrap, group, topic, **protocol)
        beats = [0]

        def beaten() -> bool:
            beats[0] = sum(one.api == "ConsumerGroupHeartbeat" for one in proxy.exchanges)
            return beats[0] >= 4

        _until(beaten, lambda: (first.poll(0.1), second.poll(0.1)))
        second.close()
        first.close()
    assert findings(capture) == []


def _until(ready: Any, meanwhile: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < deadline
        meanwhile()
