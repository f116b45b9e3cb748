"""Brokers of Apache Kafka, and one that a proxy makes accept what it should not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

import pytest

from barnabas.fuzz.states.conversation import Conversation
from barnabas.fuzz.states.deviations import Deviation, deviations_of, doubtful_inputs
from barnabas.fuzz.states.learner import learn
from barnabas.fuzz.states.machine import Machine
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.fuzz.targets.address import Address, address
from barnabas.fuzz.targets.apache import apache
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.harness import Harness
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.model import Scenario

pytestmark = pytest.mark.needs_apache("4.3.1")

STATES = {"classic-group": 7, "consumer-group": 5, "fetch-session": 2}
"""As they were found. That of transactions takes a minute."""

BY_NAME = {one.name: one for one in ALPHABETS}

HEARTBEATS = loads("""
version: 1
rules: [{name: fine, match: {api: Heartbeat, direction: request}, do: {respond: {}}}]
""")

OLD_HEARTBEATS = loads("""
version: 1
rules:
  - name: of generation 1 for ever
    match: {api: Heartbeat, direction: request}
    where: generation_id == `1`
    do: {respond: {}}
""")


@pytest.fixture(scope="module")
def kafka() -> Iterator[BrokerTarget]:
    with apache(ApacheSettings.of("4.3.1")) as target:
        yield target


def machine_of(target: BrokerTarget, name: str, run: str) -> Machine:
    offered = target.prober.offered()
    alphabet = BY_NAME[name].within(offered)
    assert alphabet is not None
    said = Conversation(target.prober, alphabet, offered, run)
    return learn(target.name, said, Random(1), doubted=partial(doubtful_inputs, alphabet))


@pytest.mark.parametrize(("name", "states"), STATES.items())
def test_it_is_learned_whole_and_nothing_is_wrong(
    kafka: BrokerTarget, name: str, states: int
) -> None:
    machine = machine_of(kafka, name, "real")
    assert machine.whole
    assert len(machine.access) == states
    assert list(deviations_of(BY_NAME[name], machine)) == []


def wrong_behind(kafka: BrokerTarget, scenario: Scenario) -> dict[str, Deviation]:
    """What is wrong with classic groups behind a proxy, by the input that shows it."""
    host, port = kafka.service.address
    with Harness(f"{host}:{port}", scenario=scenario) as proxy:
        where, _, through = proxy.bootstrap.rpartition(":")
        with address(Address(where, int(through))) as target:
            machine = machine_of(target, "classic-group", scenario.rules[0].name)
    return {wrong.inputs[-1]: wrong for wrong in deviations_of(BY_NAME["classic-group"], machine)}


def test_a_heartbeat_that_is_always_fine_is_found(kafka: BrokerTarget) -> None:
    found = wrong_behind(kafka, HEARTBEATS)
    assert found["Heartbeat"].inputs == ("Heartbeat",)
    assert "Heartbeat in state UNJOINED is accepted" in found["Heartbeat"].description


def test_a_heartbeat_of_an_old_generation_that_is_fine_is_found(kafka: BrokerTarget) -> None:
    (found,) = wrong_behind(kafka, OLD_HEARTBEATS).values()
    assert "Heartbeat of the last generation in state" in found.description
    assert found.inputs.count("JoinGroup") >= 2
