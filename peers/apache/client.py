"""Java clients of exact versions: kafka-clients in a process of its own, driven through JPype.

Producers need 0.8.2.0, consumers 0.9.0.0, transactions and admin calls 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from barnabas.peers.apache.java_process import PROGRAM, JavaError, JavaProcess
from barnabas.peers.apache.versions import LOGGER, release

__all__ = ["Decoded", "JavaClient", "JavaError", "as_bytes", "as_text"]


class Decoded(NamedTuple):
    """The result of decoding a frame with Kafka's own classes and encoding it again."""

    wrote: bytes | None
    remaining: int
    refused: str
    unwritten: str


class JavaClient:
    """A process with producers and administrators of one version of kafka-clients, from `with` to its end.

    A call that is interrupted (KeyboardInterrupt, a test's timeout) ends the process: all later calls raise
    JavaError.

    Args:
        version: of kafka-clients. Raises UnknownVersionError.
        settings: of all clients, e.g. {"bootstrap.servers": cluster.bootstrap}.
        program: a module that serves more calls than `client_process`.

    Raises:
        UnavailableError: At the start of `with`: Java, the artifacts or JPype are missing.
    """

    def __init__(self, version: str, settings: Mapping[str, str], program: str = PROGRAM) -> None:
        self.version = release(version).version
        self.settings = dict(settings)
        jars = (f"org.apache.kafka:kafka-clients:{self.version}", LOGGER)
        self._process = JavaProcess(jars, program)

    def __enter__(self) -> Self:
        self._process.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._process.__exit__()

    @property
    def pid(self) -> int | None:
        """Return the process id; None before the start and after the end."""
        return None if self._process.popen is None else self._process.popen.pid

    def produce(
        self,
        topic: str,
        values: Sequence[bytes],
        *,
        settings: Mapping[str, str] | None = None,
        partitions: Sequence[int] | None = None,
    ) -> list[tuple[int, int]]:
        """Send records with a new producer, and return the partition and offset of each.

        partitions: the partition of each record; None leaves the choice to the producer.

        Raises:
            JavaError: A send or the producer failed.
        """
        answer = self.ask(
            "produce",
            settings,
            topic=topic,
            values=[as_text(value) for value in values],
            partitions=None if partitions is None else list(partitions),
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
        """Send records at a fixed rate with a new producer, and return each record's latency in microseconds.

        A latency counts from the sending of a record, or from its due time if that was earlier, to its
        acknowledgement. The topic needs a single broker: acknowledgements are taken in the order of sending.
        size: bytes of each value. rate: records a second.

        Raises:
            JavaError: A send failed.
        """
        answer = self.ask("pace", settings, topic=topic, count=count, size=size, rate=rate)
        took: list[int] = answer["took"]
        return took

    def create_topic(
        self, topic: str, partitions: int, settings: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic with one replica, and wait until its partitions have leaders.

        Raises:
            JavaError: AdminClient reported an error, such as TopicExistsException.
        """
        self.ask("create_topic", settings, topic=topic, partitions=partitions)

    def decodes(self) -> dict[int, tuple[int, int]]:
        """Return the first and last version that has generated classes, by API key.

        Raises:
            JavaError: The release has no generated classes.
        """
        versions = self.ask("decodes", None)["versions"]
        return {key: (first, last) for key, first, last in versions}

    def decode(self, frames: Sequence[tuple[int, int, str, bytes]]) -> list[Decoded]:
        """Decode frames with Kafka's classes, and encode the results again.

        Args:
            frames: API key, version, "request" or "response", and the frame without its size.

        Raises:
            JavaError: The call itself failed; a frame that Kafka refuses is in the result.
        """
        messages = [
            [key, version, direction, as_text(frame)] for key, version, direction, frame in frames
        ]
        return [
            Decoded(
                as_bytes(result.get("wrote")),
                result.get("left", 0),
                result.get("refused", ""),
                result.get("unwritten", ""),
            )
            for result in self.ask("decode", None, messages=messages)["read"]
        ]

    def read_sets(self, record_sets: Sequence[bytes]) -> list[tuple[int, str]]:
        """Read record sets with Kafka's classes, which check each batch.

        Returns:
            The number of records of each set, and why Kafka refuses it; "" if it does not.

        Raises:
            JavaError: The call itself failed.
        """
        results = self.ask("read_sets", None, sets=list(map(as_text, record_sets)))["read"]
        return [(result["records"], result.get("refused", "")) for result in results]

    def ask(
        self, call: str, settings: Mapping[str, str] | None = None, **arguments: Any
    ) -> dict[str, Any]:
        """Make a call of the program, and return its response. Raises JavaError."""
        merged = {**self.settings, **(settings or {})}
        return self._process.ask({"do": call, "settings": merged, **arguments})


def as_text(value: bytes) -> str:
    """Encode bytes as characters 0 to 255, for JSON."""
    return value.decode("latin-1")


def as_bytes(value: str | None) -> bytes | None:
    """Decode bytes from characters 0 to 255."""
    return None if value is None else value.encode("latin-1")
