"""Real clients against the bench's broker in a valid state: they see all there is, and nothing is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe, shape_of
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.registry import client
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients.client import Client
from barnabas.peers.clients.python import program
from barnabas.specs import keys
from barnabas.specs.registry import NAMES

PATIENT = Limits(hung_s=60.0, starts_s=90.0)
"""Nothing is timed here: a busy machine may take long."""
ALL_RECORDS = 14
SURPRISING = ("nulls", "together")
"""Shapes that the schema allows and some clients do not, and sessions with further, wrong responses."""
TRIES = 10


def _installed(package: str, name: str) -> ClientTarget:
    found = Client(package, "as installed", lambda: program(Path(sys.executable), name))
    return ClientTarget(found, limits=PATIENT, side_by_side=1)


def _healthy(target: ClientTarget, asked: set[str], *, compared: bool = True) -> None:
    """Each of these APIs is asked for; a valid answer in a case's place is not told from one, in whatever
    shape and container; and some session sees all records.

    compared: whether the oracle of wrong data counts.
    """
    oracles = [
        one
        for one in ORACLES
        if "client" in one.roles and (compared or one.name != "client-wrong-data")
    ]
    assert oracles
    with target:
        newest: dict[int, int] = {}
        for _ in range(TRIES):  # on a busy machine a session may end before its last requests
            newest |= target.newest()
            missing = asked - {NAMES[key] for key in newest}
            if not missing:
                break
        assert not missing, "no session asked for these: does the program raise in a valid session?"
        case, *others = [
            Case(0, Recipe(seed, ()), (len(seed.frame).to_bytes(4, "big") + seed.frame,))
            for seed in seeds([(keys.FETCH, newest[keys.FETCH])])
            if shape_of(seed.origin) not in SURPRISING
        ]
        for _ in range(TRIES):  # some stumble over their own end now and then, on a busy machine
            others = [
                observation.case
                for observation in target.run(others)
                if any(verdict for one in oracles for verdict in one.judge(observation))
            ]
        assert [case.recipe.seed.origin for case in others] == []
        for _ in range(TRIES):
            (observation,) = target.run([case])
            facts = dict(observation.facts)
            assert not [verdict for one in oracles for verdict in one.judge(observation)]
            if facts["served"] and facts["records"] == ALL_RECORDS:
                break
        else:
            pytest.fail(f"no session saw all records; the last: {observation}")


USUAL = {"ApiVersions", "Metadata", "Fetch", "ListOffsets", "JoinGroup", "OffsetCommit", "Produce"}
IN_TRANSACTIONS = {"InitProducerId", "AddPartitionsToTxn", "EndTxn"}
OFFSETS_IN_THEM = {"AddOffsetsToTxn", "TxnOffsetCommit"}
METRICS = {"GetTelemetrySubscriptions", "PushTelemetry"}
SHARING = {"ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge"}


def test_kafka_python() -> None:
    _healthy(_installed("kafka-python", "kafka_python"), USUAL)


def test_librdkafka() -> None:
    asked = USUAL | IN_TRANSACTIONS | OFFSETS_IN_THEM | METRICS | SHARING
    asked |= {"ConsumerGroupHeartbeat"}
    _healthy(_installed("confluent-kafka", "confluent"), asked)


def test_aiokafka() -> None:
    _healthy(_installed("aiokafka", "aiokafka"), USUAL | IN_TRANSACTIONS | OFFSETS_IN_THEM)


@pytest.mark.needs_apache("3.9.1")
@pytest.mark.timeout(400)
def test_java() -> None:
    asked = USUAL | IN_TRANSACTIONS | OFFSETS_IN_THEM | METRICS | {"ConsumerGroupHeartbeat"}
    _healthy(client("java@3.9.1"), asked)


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(400)
def test_what_the_newest_java_client_asks_is_answered() -> None:
    asked = USUAL | IN_TRANSACTIONS | OFFSETS_IN_THEM | METRICS | SHARING
    target = client("java@4.3.1")
    _healthy(target, asked | {"ConsumerGroupHeartbeat", "DescribeQuorum", "ShareGroupDescribe"})
    with target:
        assert target.newest()[keys.END_TXN] == 5  # in transactions of version 2, beside those of 1


@pytest.mark.parametrize("name", ["franz-go@1.21.4", "sarama@1.46.2"])
@pytest.mark.needs_go("franz-go@1.21.4", "sarama@1.46.2")
@pytest.mark.timeout(400)
def test_in_go(name: str) -> None:
    _healthy(client(name), USUAL | IN_TRANSACTIONS)


@pytest.mark.needs_cargo("rdkafka@0.39.0")
@pytest.mark.timeout(400)
def test_in_rust() -> None:
    asked = USUAL | IN_TRANSACTIONS | OFFSETS_IN_THEM | METRICS | {"ConsumerGroupHeartbeat"}
    _healthy(client("rdkafka@0.39.0"), asked)


@pytest.mark.parametrize("name", ["kafkajs@2.2.4", "platformatic-kafka@2.12.1"])
@pytest.mark.needs_node("kafkajs@2.2.4", "platformatic-kafka@2.12.1")
@pytest.mark.timeout(400)
def test_in_javascript(name: str) -> None:
    # as in test_contexts.py, what they deliver is not compared
    _healthy(client(name), (USUAL - {"OffsetCommit"}) | IN_TRANSACTIONS, compared=False)
