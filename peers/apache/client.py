"""Java clients of exact versions: kafka-clients in a process of its own, driven through JPype.

Producers need 0.8.2.0, consumers 0.9.0.0, transactions and admin calls 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from barnabas.peers.apache.java_process import JavaError, JavaProcess
from barnabas.peers.apache.versions import release

__all__ = ["Decoded", "JavaClient", "JavaError", "Member", "Received"]


class Received(NamedTuple):
    """A record that a consumer got; key and value are bytes or None."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class Member(NamedTuple):
    """What a member of a group lived to see."""

    received: list[tuple[int, int]]
    """Partition and offset of each record, in the order in which they came."""
    told: list[str]
    """`assigned 0,1`, `revoked 0,1`, `lost 0,1`, and the exceptions of commits by their classes."""


class Decoded(NamedTuple):
    """What Kafka's own classes made of a frame: its bytes as they write them (None: they can't), how many
    bytes they left alone, and the exception with which they refused it or did not write it."""

    wrote: bytes | None
    left: int
    refused: str
    unwritten: str


Seen = list[Any]
"""Something that a member of a group saw: seconds since 1970, what, and what there is to say of it:
`reads` ids, `commits` mark, how, [partition, offset] of each, `committed` mark, exception or "",
`assigned`, `revoked`, `lost` partitions, `died` exception, message."""


class JavaClient:
    """Producers and consumers of one version of kafka-clients, from `with` to its end.

    settings: for all of them, e.g. {"bootstrap.servers": cluster.bootstrap}. Raises
    UnknownVersionError, and when started UnavailableError if Java, the artifacts or JPype are
    missing. A call that is interrupted (KeyboardInterrupt, a test's timeout) ends the process: all
    later ones raise JavaError.
    """

    def __init__(self, version: str, settings: Mapping[str, str]) -> None:
        self.version = release(version).version
        self._settings = dict(settings)
        self._process = JavaProcess(self.version)

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
        outcome: Literal["commit", "abort"] | None = None,
        group: str | None = None,
        offsets: Mapping[int, int] | None = None,
    ) -> list[tuple[int, int]]:
        """Send records with a new producer and wait for all; gives partition and offset of each.

        partitions: where each goes, None if the producer chooses. outcome: how the transaction ends in
        which they are sent, None for no transaction; with one, settings has a `transactional.id`, and
        the group's offsets (by partition of the topic) are committed in it. Raises JavaError.
        """
        answer = self._ask(
            "produce",
            settings,
            topic=topic,
            values=[_text(one) for one in values],
            partitions=None if partitions is None else list(partitions),
            outcome=outcome,
            group=group,
            offsets=list((offsets or {}).items()),
        )
        return [(partition, offset) for partition, offset in answer["sent"]]

    def transact(
        self,
        topic: str,
        transactions: Sequence[tuple[Sequence[bytes], Literal["commit", "abort"]]],
        *,
        settings: Mapping[str, str],
    ) -> list[list[str]]:
        """Transactions of one new producer to a topic's first partition, each with its values and its end.

        Gives the exceptions of each by their classes: none, that for which it was aborted, or also that
        of the abort; then the producer is done with, and no further one is begun. settings: with a
        `transactional.id`. Raises JavaError if it can't begin at all.
        """
        asked = [[[_text(one) for one in values], outcome] for values, outcome in transactions]
        answer = self._ask("transact", settings, topic=topic, transactions=asked)
        told: list[list[str]] = answer["told"]
        return told

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
        answer = self._ask("pace", settings, topic=topic, count=count, size=size, rate=rate)
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
        answer = self._ask("consume", own, topic=topic, count=count, seconds=seconds)
        return [
            Received(topic, partition, offset, _bytes(key), _bytes(value))
            for topic, partition, offset, key, value in answer["received"]
        ]

    def read_together(
        self,
        topic: str,
        count: int,
        *,
        group: str,
        joins: Sequence[int] = (0,),
        wait: bool = True,
        pause: float = 0.0,
        settings: Mapping[str, str] | None = None,
        seconds: float = 30.0,
    ) -> list[Member]:
        """Join a group with consumers that read until they have so many different records together.

        Each member comes once there are as many as `joins` says, and has its place there in its
        `client.id` (member-0). It commits what each poll gave so many seconds after it: `wait` with
        commitSync, else with commitAsync. Raises JavaError, also if the records did not all come in
        so many seconds.
        """
        own = {"group.id": group, "auto.offset.reset": "earliest", **(settings or {})}
        answer = self._ask(
            "read_together",
            own,
            topic=topic,
            count=count,
            joins=list(joins),
            wait=wait,
            pause=pause,
            seconds=seconds,
        )
        return [
            Member([(partition, offset) for partition, offset in one["received"]], one["told"])
            for one in answer["members"]
        ]

    def follow(
        self,
        topic: str,
        count: int,
        groups: Sequence[Sequence[Mapping[str, Any]]],
        *,
        settings: Mapping[str, str] | None = None,
        notes: Path | None = None,
    ) -> list[list[list[Seen]]]:
        """Groups of consumers that follow scripts, all at once; gives what each member saw.

        count: how many different records the topic has. Each member says `settings` of its own, `steps`
        (see `barnabas.peers.apache.client_steps`) and whether it `commits_when_revoked`. notes: a file, in
        which each line is a JSON array of a client id and what that member saw, written as it happens.
        Raises JavaError.
        """
        common = {**self._settings, "auto.offset.reset": "earliest", **(settings or {})}
        made = [
            [{**one, "settings": {**common, **one["settings"]}} for one in group]
            for group in groups
        ]
        told = None if notes is None else str(notes)
        answer = self._ask("follow", None, topic=topic, count=count, groups=made, notes=told)
        found: list[list[list[Seen]]] = answer["groups"]
        return found

    def administer(
        self, call: str, *, settings: Mapping[str, str] | None = None, **about: Any
    ) -> dict[str, Any]:
        """A call of AdminClient, with its answer; see `barnabas.peers.apache.client_admin` for what there is.

        about: `topic` and `partitions`, as the call needs. Raises JavaError.
        """
        return self._ask("administer", settings, call=call, **about)

    def decodes(self) -> dict[int, tuple[int, int]]:
        """API key -> the first and the last version that there are classes for. Raises JavaError, also of
        releases that have none."""
        versions = self._ask("decodes", None)["versions"]
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
            for one in self._ask("decode", None, messages=messages)["read"]
        ]

    def _ask(self, what: str, settings: Mapping[str, str] | None, **rest: Any) -> dict[str, Any]:
        own = {**self._settings, **(settings or {})}
        return self._process.ask({"do": what, "settings": own, **rest})


def _text(value: bytes) -> str:
    return value.decode("latin-1")


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else value.encode("latin-1")
