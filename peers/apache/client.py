"""Java clients of exact versions: kafka-clients in a process of its own, driven through JPype.

Producers need 0.8.2.0, consumers 0.9.0.0, transactions and admin calls 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

from barnabas.peers.apache.java_process import PROGRAM, JavaError, JavaProcess
from barnabas.peers.apache.versions import LOGGER, release

__all__ = ["Decoded", "JavaClient", "JavaError", "Received", "Transaction"]


class Received(NamedTuple):
    """A record that a consumer got; key and value are bytes or None."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class Transaction(NamedTuple):
    """A transaction in which records are sent, and offsets of a group are committed."""

    outcome: Literal["commit", "abort"] | None
    """How it ends; None: it is none."""
    group: str | None = None
    offsets: Mapping[int, int] = {}
    """By partition of the records' topic."""


class Decoded(NamedTuple):
    """What Kafka's own classes made of a frame: its bytes as they write them (None: they can't), how many
    bytes they left alone, and the exception with which they refused it or did not write it."""

    wrote: bytes | None
    left: int
    refused: str
    unwritten: str


class JavaClient:
    """Producers and consumers of one version of kafka-clients, from `with` to its end.

    settings: for all of them, e.g. {"bootstrap.servers": cluster.bootstrap}. program: a module that serves
    more calls than `client_process`. Raises UnknownVersionError, and when started UnavailableError if Java,
    the artifacts or JPype are missing. A call that is interrupted (KeyboardInterrupt, a test's timeout) ends
    the process: all later ones raise JavaError.
    """

    def __init__(self, version: str, settings: Mapping[str, str], program: str = PROGRAM) -> None:
        self.version = release(version).version
        self._settings = dict(settings)
        jars = (f"org.apache.kafka:kafka-clients:{self.version}", LOGGER)
        self._process = JavaProcess(jars, program)

    def __enter__(self) -> Self:
        self._process.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._process.__exit__()

    @property
    def pid(self) -> int | None:
        """The process, None while there is none."""
        return None if self._process.popen is None else self._process.popen.pid

    def produce(
        self,
        topic: str,
        values: Sequence[bytes],
        *,
        settings: Mapping[str, str] | None = None,
        partitions: Sequence[int] | None = None,
        transaction: Transaction | None = None,
    ) -> list[tuple[int, int]]:
        """Send records with a new producer and wait for all; gives partition and offset of each.

        partitions: where each goes, None if the producer chooses. transaction: in which they are sent;
        with one, settings has a `transactional.id`. Raises JavaError.
        """
        about = transaction or Transaction(None)
        answer = self.ask(
            "produce",
            settings,
            topic=topic,
            values=[_text(one) for one in values],
            partitions=None if partitions is None else list(partitions),
            outcome=about.outcome,
            group=about.group,
            offsets=list(about.offsets.items()),
        )
        return [(partition, offset) for partition, offset in answer["sent"]]

    def pace(
        self,
        topic: str,
        count: int,
        *,
        size: int,
        rate: int,
        settings: Mapping[str, str] | None = None,
    ) -> list[int]:
        """Send records of so many bytes, so many a second, with a new producer.

        Gives the microseconds from each one's sending (or when it was due, if that was before) to
        its acknowledgement. To a single broker: what comes in another order is not told apart.
        Raises JavaError.
        """
        answer = self.ask("pace", settings, topic=topic, count=count, size=size, rate=rate)
        took: list[int] = answer["took"]
        return took

    def consume(
        self,
        topic: str,
        count: int,
        *,
        group: str,
        settings: Mapping[str, str] | None = None,
        seconds: float = 20.0,
    ) -> list[Received]:
        """Join a group with a new consumer, read until there are so many records, commit, leave.

        Gives those that came in so many seconds, from the group's offset or the beginning. Raises
        JavaError.
        """
        own = {"group.id": group, "auto.offset.reset": "earliest", **(settings or {})}
        answer = self.ask("consume", own, topic=topic, count=count, seconds=seconds)
        return [
            Received(topic, partition, offset, _bytes(key), _bytes(value))
            for topic, partition, offset, key, value in answer["received"]
        ]

    def administer(
        self, call: str, *, settings: Mapping[str, str] | None = None, **about: Any
    ) -> dict[str, Any]:
        """A call of AdminClient, with its answer; see `barnabas.peers.apache.client_admin` for what there is.

        about: `topic` and `partitions`, as the call needs. Raises JavaError.
        """
        return self.ask("administer", settings, call=call, **about)

    def decodes(self) -> dict[int, tuple[int, int]]:
        """API key -> the first and the last version that there are classes for. Raises JavaError, also of
        releases that have none."""
        versions = self.ask("decodes", None)["versions"]
        return {key: (first, last) for key, first, last in versions}

    def decode(self, frames: Sequence[tuple[int, int, str, bytes]]) -> list[Decoded]:
        """Read frames, and write them again: (API key, version, "request" or "response", the frame without
        its size) each. Raises JavaError."""
        messages = [[key, version, way, _text(frame)] for key, version, way, frame in frames]
        return [
            Decoded(
                _bytes(one.get("wrote")),
                one.get("left", 0),
                one.get("refused", ""),
                one.get("unwritten", ""),
            )
            for one in self.ask("decode", None, messages=messages)["read"]
        ]

    def ask(
        self, what: str, settings: Mapping[str, str] | None = None, **rest: Any
    ) -> dict[str, Any]:
        """Make a call of the program, and return its answer. Raises JavaError."""
        own = {**self._settings, **(settings or {})}
        return self._process.ask({"do": what, "settings": own, **rest})


def _text(value: bytes) -> str:
    return value.decode("latin-1")


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else value.encode("latin-1")
