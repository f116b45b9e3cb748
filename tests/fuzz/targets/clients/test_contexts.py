"""Real clients in each context: what is valid is taken well, and skipped records show that lists are read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.bench_broker.contexts.registry import CONTEXTS
from barnabas.fuzz.bench_broker.contexts.transactions import LOGS
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe, shape_of
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.registry import client
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients.client import Client
from barnabas.peers.clients.python import program
from barnabas.specs import keys

PATIENT = Limits(hung_s=60.0, starts_s=90.0)
"""Nothing is timed here: a busy machine may take long."""
TRIES = 5
VALID = {context.name for context in CONTEXTS if not context.distorted}
VISIBLE = {log.name: set(log.visible) for log in LOGS}
MOVES = {"leader-moves", "leader-moves-named", "epoch-back"}
"""Contexts in which a consumer without a group still reads all records."""
ALL_RECORDS = 14

Facts = Mapping[str, Any]


def _installed(package: str, name: str) -> ClientTarget:
    installed = Client(package, "as installed", lambda: program(Path(sys.executable), name))
    return ClientTarget(installed, limits=PATIENT, side_by_side=2)


def _run(
    target: ClientTarget, cases: Iterable[Case], *, compared: bool
) -> dict[tuple[int, str], Facts]:
    """Run cases, and return the facts of each by its API and context; no oracle reports any.

    compared: whether the oracle of wrong data counts.
    """
    oracles = [
        oracle
        for oracle in ORACLES
        if "client" in oracle.roles and (compared or oracle.name != "client-wrong-data")
    ]
    facts: dict[tuple[int, str], Facts] = {}
    for observation in target.run(list(cases)):
        assert not [verdict for oracle in oracles for verdict in oracle.judge(observation)]
        seed = observation.case.recipe.seed
        facts[seed.key, shape_of(seed.origin)] = dict(observation.facts)
    return facts


def _misread(facts: Mapping[tuple[int, str], Facts]) -> list[tuple[int, str]]:
    """Return the contexts of Fetch in which the consumer did not deliver what is visible."""
    wrong = []
    for (key, name), fact in facts.items():
        if key != keys.FETCH or not fact["served"]:
            continue
        if name in VISIBLE:
            offsets = {offset for _, offset, *_ in fact["delivered"]}
            good = offsets == VISIBLE[name] and fact["records"] == 2 * len(VISIBLE[name])
        else:
            good = name not in MOVES or fact["records"] == ALL_RECORDS
        if not good:
            wrong.append((key, name))
    return wrong


def _taken_well(
    target: ClientTarget,
    lacking: frozenset[str] = frozenset(),
    *,
    compared: bool = True,
    skipped: frozenset[int] = frozenset(),
    unreached: frozenset[str] = frozenset(),
) -> None:
    """Run a valid response in each context.

    lacking: workloads that the library does not have. compared: whether the consumer must deliver what is
    visible. skipped: APIs without cases. unreached: contexts whose case the library may not request.
    """
    without = {context.name for context in CONTEXTS if context.workload in lacking} | unreached
    with target:
        newest = target.newest()
        cases = [
            Case(number, Recipe(seed, ()), (len(seed.frame).to_bytes(4, "big") + seed.frame,))
            for number, seed in enumerate(seeds(newest.items()))
            if shape_of(seed.origin) in VALID - without and seed.key not in skipped
        ]
        assert {keys.FETCH, keys.METADATA, keys.JOIN_GROUP} - skipped <= {
            case.recipe.seed.key for case in cases
        }
        for _ in range(TRIES):  # a session on a busy machine may end before its last requests
            facts = _run(target, cases, compared=compared)
            again = {place for place, fact in facts.items() if not fact["served"]}
            again.update(_misread(facts) if compared else ())
            cases = [
                case
                for case in cases
                if (case.recipe.seed.key, shape_of(case.recipe.seed.origin)) in again
            ]
            if not cases:
                return
        assert [case.recipe.seed.origin for case in cases] == []


def test_kafka_python() -> None:
    _taken_well(_installed("kafka-python", "kafka_python"), frozenset(("consumer-protocol",)))


def test_librdkafka() -> None:
    _taken_well(_installed("confluent-kafka", "confluent"), frozenset(("sticky",)))


def test_aiokafka() -> None:
    _taken_well(_installed("aiokafka", "aiokafka"), frozenset(("cooperative", "consumer-protocol")))


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(400)
def test_java() -> None:
    _taken_well(client("java@4.3.1"))


@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        ("franz-go@1.21.4", frozenset(("consumer-protocol",))),
        ("sarama@1.46.2", frozenset(("cooperative", "consumer-protocol"))),
    ],
)
@pytest.mark.needs_go("franz-go@1.21.4", "sarama@1.46.2")
@pytest.mark.timeout(400)
def test_in_go(name: str, lacking: frozenset[str]) -> None:
    _taken_well(client(name), lacking)


@pytest.mark.needs_cargo("rdkafka@0.39.0")
@pytest.mark.timeout(400)
def test_in_rust() -> None:
    # librdkafka may fetch one partition at first, and the case's response is of the other
    skipped = frozenset((keys.FETCH,))
    _taken_well(client("rdkafka@0.39.0"), frozenset(("sticky",)), skipped=skipped)


@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        (
            "kafkajs@2.2.4",
            frozenset(("sticky", "cooperative", "consumer-protocol")),
        ),
        ("platformatic-kafka@2.12.1", frozenset(("sticky",))),
    ],
)
@pytest.mark.needs_node("kafkajs@2.2.4", "platformatic-kafka@2.12.1")
@pytest.mark.timeout(400)
def test_in_javascript(name: str, lacking: frozenset[str]) -> None:
    # both pause before each further Metadata, and a session is over before the fourth
    unreached = frozenset(("leader-moves-on", "topic-recreated"))
    _taken_well(client(name), lacking, compared=False, unreached=unreached)
