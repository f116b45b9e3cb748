"""A Java client that continues after exceptions, as an application may, and returns them by their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from barnabas.peers.apache.client import as_text
from tests.experiments.scenarios.kafka import VERSION
from tests.peers.java.client import FullClient
from tests.waiting import SOON


class Read(NamedTuple):
    """The records and exceptions of a consumer, in order."""

    offsets: list[int]
    values: list[bytes]
    problems: list[str]
    """Exceptions of poll by their classes."""


class Produced(NamedTuple):
    """The result of each record: its offset, or the exception's class."""

    offsets: list[int | None]
    problems: list[str | None]


class ErrorClient(FullClient):
    """A Java client of the brokers' version whose calls do not end with the first exception."""

    def __init__(self) -> None:
        super().__init__(VERSION, {}, "tests.experiments.scenarios.java_errors_process")

    def produce_each(
        self,
        topic: str,
        values: Sequence[bytes],
        settings: Mapping[str, str],
        *,
        together: bool = False,
        partitions: int = 1,
    ) -> Produced:
        """Send records to the partitions in turn with one producer, and wait for each before the next one.

        together: send all of them before waiting for the first one.
        """
        answer = self.ask(
            "produce_each",
            settings,
            topic=topic,
            values=[as_text(value) for value in values],
            partitions=[number % partitions for number in range(len(values))],
            together=together,
        )
        results = answer["results"]
        return Produced([offset for offset, _ in results], [problem for _, problem in results])

    def consume_on(
        self,
        topic: str,
        last: bytes,
        settings: Mapping[str, str],
        limit: int = 100,
        *,
        skip: bool = False,
    ) -> Read:
        """Read as the only member of a group named like the topic until `last` arrives, polling after errors.

        limit: the number of exceptions after which to stop.
        skip: seek past the record that a RecordDeserializationException names.
        """
        own = {"group.id": topic, "auto.offset.reset": "earliest", **settings}
        answer = self.ask(
            "consume_on",
            own,
            topic=topic,
            last=as_text(last),
            limit=limit,
            skip=skip,
            seconds=SOON,
        )
        received = answer["received"]
        return Read(
            [offset for offset, _ in received],
            [value.encode("latin-1") for _, value in received],
            answer["problems"],
        )

    def try_create(self, topic: str, settings: Mapping[str, str]) -> str | None:
        """Create a topic with AdminClient, and return the exception's class, or None."""
        problem: str | None = self.ask("try_create", settings, topic=topic)["problem"]
        return problem
