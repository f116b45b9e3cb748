"""What a round consists of, whichever client does it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from barnabas.experiments.explore.history import (
    Assigned,
    Consumed,
    Consumer,
    Event,
    Transaction,
    Writer,
)

PATIENCE: Final = 20.0
"""Seconds after which a step gives up."""


class Work(NamedTuple):
    """A round: what is sent where, and who is told."""

    bootstrap: str
    topic: str
    records: int
    transactions: int
    """In how many transactions they are sent; 0: without."""
    settings: dict[str, Any]
    """More of the producer's."""
    history: Writer

    def tell(self, event: Event) -> None:
        """Add a line to the history."""
        self.history.write(event)

    @property
    def group(self) -> str:
        """The group that reads; the transactional id is the same."""
        return f"{self.topic}-group"

    @property
    def isolation(self) -> str:
        """What its members are given."""
        return "read_committed" if self.transactions else "read_uncommitted"

    def declare(self, name: str) -> None:
        """Say what a consumer is."""
        isolation: Any = self.isolation
        self.tell(Consumer(consumer=name, group=self.group, isolation=isolation, reset="earliest"))

    def assigned(self, name: str, places: Iterable[Any]) -> None:
        """Say what a consumer got; both clients have objects with topic and partition."""
        for place in places:
            self.tell(Assigned(consumer=name, topic=place.topic, partition=place.partition))

    def consumed(self, name: str, value: bytes, topic: str, partition: int, offset: int) -> str:
        """Say what a consumer was given; returns its id."""
        record = value.decode()
        self.tell(
            Consumed(consumer=name, id=record, topic=topic, partition=partition, offset=offset)
        )
        return record

    def batches(self) -> list[list[str]]:
        """The ids of the records, in as many parts as there are transactions.

        >>> Work("", "t", 5, 2, {}, None).batches()  # type: ignore[arg-type]
        [['t-0', 't-1', 't-2'], ['t-3', 't-4']]
        """
        ids = [f"{self.topic}-{number}" for number in range(self.records)]
        size = -(-self.records // max(self.transactions, 1)) or 1
        return [ids[at : at + size] for at in range(0, len(ids), size)]

    def ended(self, transaction: str, outcome: Any) -> None:
        """Say what became of a transaction."""
        self.tell(Transaction(transaction=transaction, outcome=outcome))


def is_aborted(number: int) -> bool:
    """Whether a transaction is aborted on purpose: each third one."""
    return number % 3 == 2
