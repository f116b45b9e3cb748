"""Transactional producers of confluent-kafka, for scenarios about transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confluent_kafka import Producer, TopicPartition

from barnabas.harness import Harness
from tests.experiments.scenarios.kafka import QUICK
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
