"""Kafka's own classes beside our decoder: what one reads the other reads, as the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import DIFFERS, Observation
from barnabas.fuzz.corpus.sources import generated
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.kafka_classes import KafkaClasses
from barnabas.fuzz.targets.pair import PairTarget
from barnabas.fuzz.targets.registry import target_of

VERSION = "4.3.1"
HEAD = bytes.fromhex("0012 0003 00000007 0001 61 00")
BODY = b"\2a\2b"


@pytest.fixture(scope="module")
def pair() -> Iterator[PairTarget]:
    target = target_of(f"decoder:frames vs decoder:kafka-clients@{VERSION}", False)
    assert isinstance(target, PairTarget)
    with ExitStack() as stack:
        try:
            stack.enter_context(target)
        except CannotRun as problem:
            pytest.skip(str(problem))
        yield target


def case(seed: Seed, frame: bytes) -> Case:
    return Case(0, Recipe(seed, ()), (len(frame).to_bytes(4, "big") + frame,))


def api_versions(tags: str) -> Case:
    frame = HEAD + BODY + bytes.fromhex(tags)
    return case(Seed(18, 3, "request", frame, "x"), frame)


def differs(observation: Observation) -> object:
    return dict(observation.facts).get(DIFFERS)


@pytest.mark.needs_apache(VERSION)
def test_valid_messages_are_read_as_the_same(pair: PairTarget) -> None:
    offered = {
        key: (min(versions), max(versions))
        for key, versions in pair.supported_versions().items()
        if versions
    }
    some = {key: offered[key] for key in sorted(offered)[::3] if pair.supported_versions()[key]}
    for direction in ("request", "response"):
        seeds = generated("s", some, direction, each=1)
        found = list(pair.run([case(seed, seed.frame) for seed in seeds]))
        assert [differs(one) for one in found] == [None] * len(seeds)
        assert all("wrote" in dict(one.facts) for one in found)


@pytest.mark.needs_apache(VERSION)
@pytest.mark.parametrize(
    "tags",
    [
        "01 fbffffff0f 01 78",  # number -5: read, and not to be written
        "02 03 00 fbffffff0f 00",
        "02 05 00 05 00",  # twice the same
        "01 07 ffffffff0f",  # a size of -1
        "00 00",  # a byte too many
    ],
)
def test_odd_tags_are_read_or_refused_as_kafka_does(pair: PairTarget, tags: str) -> None:
    (found,) = pair.run([api_versions(tags)])
    assert differs(found) is None


@pytest.mark.needs_apache(VERSION)
def test_what_it_refuses_is_told(pair: PairTarget) -> None:
    with KafkaClasses(VERSION) as classes:
        cut, odd = classes.run([api_versions(""), api_versions("01 fbffffff0f 01 78")])
        assert classes.supported_versions()[18] == range(5)
    assert "Underflow" in str(dict(cut.facts)["refused"])
    assert "tag -5" in str(dict(odd.facts)["unwritten"])
