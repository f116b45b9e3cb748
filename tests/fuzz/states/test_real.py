"""Brokers of Apache Kafka, and one that a proxy makes accept what it should not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

import pytest

from barnabas.fuzz.errors import CannotRun
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

STATES = {
    "classic-group": (7, 20),
    "consumer-group": (5, 20),
    "fetch-session": (2, 20),
    "two-members": (19, 5),
    "two-producers": (16, 5),
    "transaction-v2": (9, 20),
    "two-producers-v2": (17, 5),
    "partition-log": (5, 20),
}
"""The states that some random walks from each state show. Transactions of version 1 take a minute."""

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


NO_OFFSET_ERRORS = loads("""
version: 1
rules:
  - name: offsets that are out of range are empty
    match: {api: Fetch, direction: response}
    where: "responses[0].partitions[0].error_code == `1`"
    do: {edit: {set: {"responses[0].partitions[0].error_code": 0}}}
""")

LATE_EPOCHS = loads("""
version: 1
rules:
  - name: a fenced producer is not refused
    match: {api: AddPartitionsToTxn, direction: response}
    where: "results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == `90`"
    do:
      edit:
        set:
          "results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code": 0
""")


LATE_ENDS = loads("""
version: 1
rules:
  - name: a fenced producer may end the transaction
    match: {api: EndTxn, direction: response}
    where: "error_code == `90`"
    do: {edit: {set: {error_code: 0}}}
""")


@pytest.fixture(scope="module")
def kafka() -> Iterator[BrokerTarget]:
    with apache(ApacheSettings.of("4.3.1")) as target:
        yield target


def machine_of(target: BrokerTarget, name: str, run: str, walks: int = 20) -> Machine:
    offered = target.prober.offered()
    alphabet = BY_NAME[name].within(offered)
    assert alphabet is not None
    said = Conversation(target.prober, alphabet, offered, run)
    doubted = partial(doubtful_inputs, alphabet)
    return learn(target.name, said, Random(1), doubted=doubted, walks=walks)


@pytest.mark.parametrize("name", STATES)
def test_it_is_learned_whole_and_nothing_is_wrong(kafka: BrokerTarget, name: str) -> None:
    states, walks = STATES[name]
    machine = machine_of(kafka, name, "real", walks)
    assert machine.whole
    assert len(machine.access) == states
    assert list(deviations_of(BY_NAME[name], machine)) == []


def wrong_behind(
    kafka: BrokerTarget, scenario: Scenario, name: str = "classic-group"
) -> dict[str, Deviation]:
    """What is wrong behind a proxy, by the input that shows it."""
    host, port = kafka.service.address
    with Harness(f"{host}:{port}", scenario=scenario) as proxy:
        where, _, through = proxy.bootstrap.rpartition(":")
        with address(Address(where, int(through))) as target:
            machine = machine_of(target, name, scenario.rules[0].name.replace(" ", "-"))
    return {wrong.inputs[-1]: wrong for wrong in deviations_of(BY_NAME[name], machine)}


def test_a_heartbeat_that_is_always_fine_is_found(kafka: BrokerTarget) -> None:
    found = wrong_behind(kafka, HEARTBEATS)
    assert found["Heartbeat"].inputs == ("Heartbeat",)
    assert "Heartbeat in state UNJOINED is accepted" in found["Heartbeat"].description


def test_a_heartbeat_of_an_old_generation_that_is_fine_is_found(kafka: BrokerTarget) -> None:
    (found,) = wrong_behind(kafka, OLD_HEARTBEATS).values()
    assert "Heartbeat of the last generation in state" in found.description
    assert found.inputs.count("JoinGroup") >= 2


def test_offsets_that_no_broker_has_and_that_are_fine_are_found(kafka: BrokerTarget) -> None:
    found = wrong_behind(kafka, NO_OFFSET_ERRORS, "partition-log")
    assert found.keys() == {
        "Fetch after the end", "Fetch at the first offset", "Fetch inside the first batch"
    }  # fmt: skip


def test_a_fenced_producer_that_is_not_refused_is_found(kafka: BrokerTarget) -> None:
    found = wrong_behind(kafka, LATE_EPOCHS, "two-producers")
    assert found.keys() == {"first: AddPartitionsToTxn", "second: AddPartitionsToTxn"}
    assert "in state SECOND is accepted" in found["first: AddPartitionsToTxn"].description


def test_a_fenced_producer_of_version_2_that_ends_a_transaction_is_found(
    kafka: BrokerTarget,
) -> None:
    found = wrong_behind(kafka, LATE_ENDS, "transaction-v2")
    assert {
        "EndTxn, commit, of the last epoch",
        "EndTxn, abort, of the last epoch",
        "EndTxn of the next epoch",
    } <= found.keys()


def test_a_topic_that_can_not_be_created_is_said(kafka: BrokerTarget) -> None:
    with pytest.raises(CannotRun, match="tells no offset of topic no topic-partition-log"):
        machine_of(kafka, "partition-log", "no topic")
