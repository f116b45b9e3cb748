"""A Java client with the calls that only tests need: consumers, transactions, more of AdminClient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from barnabas.peers.apache.client import JavaClient, as_bytes, as_text

PROGRAM = "tests.peers.java.process"


class Received(NamedTuple):
    """A record that a consumer fetched."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class Transaction(NamedTuple):
    """How a transaction ends, and the offsets of a group that it commits."""

    outcome: Literal["commit", "abort"]
    group: str | None = None
    offsets: Mapping[int, int] = {}
    """By partition of the records' topic."""


class FullClient(JavaClient):
    """Producers, consumers and administrators of one version of kafka-clients."""

    def __init__(self, version: str, settings: Mapping[str, str], program: str = PROGRAM) -> None:
        super().__init__(version, settings, program)

    def produce_in_transaction(
        self,
        topic: str,
        values: Sequence[bytes],
        transaction: Transaction,
        *,
        settings: Mapping[str, str] | None = None,
        partitions: Sequence[int] | None = None,
    ) -> None:
        """Send records in one transaction of a new producer, whose settings have a `transactional.id`."""
        self.ask(
            "produce_in_transaction",
            settings,
            topic=topic,
            values=[as_text(value) for value in values],
            partitions=None if partitions is None else list(partitions),
            outcome=transaction.outcome,
            group=transaction.group,
            offsets=list(transaction.offsets.items()),
        )

    def consume(
        self,
        topic: str,
        count: int,
        *,
        group: str,
        settings: Mapping[str, str] | None = None,
        seconds: float = 20.0,
    ) -> list[Received]:
        """Join a group, read `count` records or for `seconds`, commit, and leave.

        Reading starts at the group's committed offset, or at the earliest one.
        """
        consumer = {"group.id": group, "auto.offset.reset": "earliest", **(settings or {})}
        answer = self.ask("consume", consumer, topic=topic, count=count, seconds=seconds)
        return [
            Received(topic, partition, offset, as_bytes(key), as_bytes(value))
            for topic, partition, offset, key, value in answer["received"]
        ]

    def administer(
        self,
        call: Literal["create", "grow", "delete"],
        topic: str,
        settings: Mapping[str, str],
        partitions: int,
    ) -> dict[str, Any]:
        """Create a topic, add partitions to it, or delete it."""
        return self.ask("administer", settings, operation=call, topic=topic, partitions=partitions)
