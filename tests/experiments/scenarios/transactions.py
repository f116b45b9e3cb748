"""Transactional producers of confluent-kafka, and programs that copy records in transactions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Producer, TopicPartition

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients import trial, workloads
from barnabas.harness import Harness
from barnabas.peers.clients import registry
from tests.experiments.scenarios.kafka import QUICK, VERSION, ready
from tests.waiting import SOON


def transactional(bootstrap: str, name: str, **settings: object) -> Producer:
    """A producer with this transactional id; whoever had it before is fenced."""
    own = {"bootstrap.servers": bootstrap, "transactional.id": name, "client.id": name}
    producer = Producer({**QUICK, **own, **settings})
    producer.init_transactions(SOON)
    return producer


def transact(
    producer: Producer, topic: str, values: Sequence[bytes], *, commit: bool = True
) -> None:
    """One transaction. Raises KafkaException if it can't be ended so."""
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    if commit:
        producer.commit_transaction(SOON)
    else:
        producer.flush(SOON)
        producer.abort_transaction(SOON)


def ended(proxy: Harness) -> list[bool]:
    """Whether each transaction that was ended was committed, as EndTxn asks."""
    ends = [one for one in proxy.exchanges if one.api == "EndTxn" and not one.error]
    return [one.request["committed"] for one in ends if one.request]


def transact_offset(
    producer: Producer, topic: str, value: bytes, group: Any, offset: int = 1
) -> None:
    """Send a value in a transaction and commit a group's offset of the topic's first partition in it.

    Raises KafkaException if a step fails; the transaction is not aborted then.
    """
    producer.begin_transaction()
    producer.produce(topic, value, partition=0)
    producer.flush(SOON)
    producer.send_offsets_to_transaction([TopicPartition(topic, 0, offset)], group, SOON)
    producer.commit_transaction(SOON)


def copy_records(client: str, scenario: str | None, bootstrap: str, folder: Path) -> trial.Trial:
    """Copy 40 records to another topic, exactly once, with Java's client or Kafka Streams.

    client: `java` or `kafka-streams`. scenario: None for a proxy without rules. folder: where `captured`
    finds the exchanges.
    """
    program = registry.find(f"{client}@{VERSION}").prepare()
    workload = workloads.find("read-process-write")._replace(records=40)
    setup = trial.TrialSetup(bootstrap, folder)
    rules = None if scenario is None else ready(scenario)
    return trial.trial(program, workload, rules, setup, threading.Event())


def captured(folder: Path, *apis: str) -> list[Exchange]:
    """Return the exchanges of some APIs in a trial, in the order of the requests."""
    exchanges = open_capture(folder / trial.CAPTURE).exchanges()
    return sorted((one for one in exchanges if one.api in apis), key=lambda one: one.ts)
