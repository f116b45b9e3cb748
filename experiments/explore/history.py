"""The history of a program under test: a JSON object a line, written as things happen.

{"event": "sent", "id": "order-1", "topic": "orders", "transaction": "t1"}
{"event": "acknowledged", "id": "order-1", "topic": "orders", "partition": 0, "offset": 41}
{"event": "transaction", "transaction": "t1", "outcome": "committed"}
{"event": "consumed", "consumer": "c1", "id": "order-1", "topic": "orders", "partition": 0, "offset": 41}

An `id` identifies a record in its topic: by default its value as text. A record that is sent again has
another `sent`. The order of lines is the order of events: `sent` precedes the call of the client, all other
events follow the client's report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from barnabas.proxy.matching.settings import Settings

Topic = Annotated[str, Field(min_length=1, max_length=249, pattern=r"^[A-Za-z0-9._-]+$")]
Partition = Annotated[int, Field(ge=0, lt=1 << 31)]
Offset = Annotated[int, Field(ge=0, lt=1 << 63)]
Group = Annotated[str, Field(min_length=1, max_length=(1 << 15) - 1, pattern=r"^[^\x00]+$")]
TopicPartition = tuple[str, int]
"""A topic and a partition."""


class Sent(Settings):
    """A record is handed to a client. Without a later event its outcome is unknown."""

    event: Literal["sent"] = "sent"
    id: str
    topic: Topic
    producer: str = ""
    """The producer, within whose records order is promised."""
    transaction: str | None = None
    """The name of the record's transaction, which must be unique."""


class Acknowledged(Settings):
    """The client reports that a record is written."""

    event: Literal["acknowledged"] = "acknowledged"
    id: str
    topic: Topic
    partition: Partition | None = None
    offset: Offset | None = None


class Failed(Settings):
    """The client reports that a record is certainly not written. A timeout is not certain."""

    event: Literal["failed"] = "failed"
    id: str
    topic: Topic


class Error(Settings):
    """The client reports an error for a record; whether it is written is unknown."""

    event: Literal["error"] = "error"
    id: str
    topic: Topic
    message: str = ""


class Transaction(Settings):
    """The client reports the outcome of a transaction; the last report counts."""

    event: Literal["transaction"] = "transaction"
    transaction: str
    outcome: Literal["committed", "aborted", "unknown"]


class Consumer(Settings):
    """The declaration of a consumer; without one, a consumer has no group and reads uncommitted records."""

    event: Literal["consumer"] = "consumer"
    consumer: str
    group: Group | None = None
    isolation: Literal["read_committed", "read_uncommitted"] = "read_uncommitted"
    reset: Literal["earliest", "latest"] | None = None
    """The start without a committed offset (auto.offset.reset); None: unknown."""
    share: bool = False
    """Whether the group is a share group (KIP-932): any member may receive any record, repeatedly until one
    has accepted it, and in any order."""


class Assigned(Settings):
    """A consumer got a partition, or sought in it: it may continue at any offset."""

    event: Literal["assigned"] = "assigned"
    consumer: str
    topic: Topic
    partition: Partition


class Consumed(Settings):
    """A consumer received a record."""

    event: Literal["consumed"] = "consumed"
    consumer: str
    id: str
    topic: Topic
    partition: Partition
    offset: Offset


class Accepted(Settings):
    """A member of a share group acknowledged a record, and the broker confirmed it."""

    event: Literal["accepted"] = "accepted"
    consumer: str
    topic: Topic
    partition: Partition
    offset: Offset


class OffsetCommitted(Settings):
    """A group's offset was committed, and the broker confirmed it: the next record to read."""

    event: Literal["offset_committed"] = "offset_committed"
    group: Group
    topic: Topic
    partition: Partition
    offset: Offset


Event = (
    Sent
    | Acknowledged
    | Failed
    | Error
    | Transaction
    | Consumer
    | Assigned
    | Consumed
    | Accepted
    | OffsetCommitted
)
_EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="event")])


class HistoryError(ValueError):
    """A history can't be read; the message names the line."""


class History:
    """The events of a run, and facts derived from them."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events = tuple(events)

    @cached_property
    def topics(self) -> frozenset[str]:
        """Return all topics in the history."""
        return frozenset(
            event.topic for event in self.events if not isinstance(event, Transaction | Consumer)
        )

    @cached_property
    def sent(self) -> dict[tuple[str, str], tuple[Sent, ...]]:
        """Return all sends by (topic, id), in the order of the first."""
        sends_by_id: dict[tuple[str, str], list[Sent]] = {}
        for event in self.events:
            if isinstance(event, Sent):
                sends_by_id.setdefault((event.topic, event.id), []).append(event)
        return {key: tuple(sends) for key, sends in sends_by_id.items()}

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """Return the last reported outcome by transaction."""
        return {
            event.transaction: event.outcome
            for event in self.events
            if isinstance(event, Transaction)
        }

    @cached_property
    def failed(self) -> frozenset[tuple[str, str]]:
        """Return the (topic, id) of records that were reported as not written, and not sent again."""
        failed: set[tuple[str, str]] = set()
        for event in self.events:
            if isinstance(event, Failed):
                failed.add((event.topic, event.id))
            elif isinstance(event, Sent):
                failed.discard((event.topic, event.id))
        return frozenset(failed)

    @cached_property
    def promised(self) -> dict[tuple[str, str], None]:
        """Return the (topic, id) of records that must be in the log, in the order of sending.

        They were acknowledged outside transactions, or belong to a transaction that is reported as committed.
        """
        acknowledged = {(e.topic, e.id) for e in self.events if isinstance(e, Acknowledged)}
        return {
            key: None
            for key, sends in self.sent.items()
            if any(
                key in acknowledged
                if send.transaction is None
                else self.outcomes.get(send.transaction) == "committed"
                for send in sends
            )
        }

    @cached_property
    def undone(self) -> frozenset[tuple[str, str]]:
        """Return the (topic, id) of records that were only sent in transactions reported as aborted."""
        return frozenset(key for key, sends in self.sent.items() if all(map(self.aborted, sends)))

    def aborted(self, send: Sent) -> bool:
        """Return whether a record was sent in a transaction that is reported as aborted."""
        return send.transaction is not None and self.outcomes.get(send.transaction) == "aborted"

    @cached_property
    def consumers(self) -> dict[str, Consumer]:
        """Return declared consumers by name."""
        return {event.consumer: event for event in self.events if isinstance(event, Consumer)}

    def consumer(self, name: str) -> Consumer:
        """Return a consumer, declared or not."""
        return self.consumers.get(name) or Consumer(consumer=name)

    @cached_property
    def consumed(self) -> tuple[Consumed, ...]:
        """Return all received records in order."""
        return tuple(event for event in self.events if isinstance(event, Consumed))


def parse(text: bytes, name: str = "history") -> History:
    r"""Parse a history from its lines, in UTF-8.

    An incomplete last line is ignored: the program was ended while it wrote.

    >>> parse(b'{"event": "sent", "id": "a", "topic": "t"}\n{"eve').events[0].id
    'a'

    Raises:
        HistoryError: A line is not valid.
    """
    events: list[Event] = []
    numbers: list[int] = []
    for number, line in enumerate(text.split(b"\n")[:-1], start=1):
        if not line.strip():
            continue
        try:
            events.append(_EVENT.validate_json(line))
        except ValidationError as problem:
            raise HistoryError(f"{name}:{number}: {_reason(problem)}") from None
        numbers.append(number)
    history = History(events)
    for number, event in zip(numbers, events, strict=True):
        if (
            isinstance(event, Acknowledged | Failed | Error)
            and (event.topic, event.id) not in history.sent
        ):
            raise HistoryError(
                f"{name}:{number}: {event.id!r} is {event.event}, but no earlier line says that it was sent"
            )
    return history


def _reason(problem: ValidationError) -> str:
    detail = problem.errors(include_url=False)[0]
    field = ".".join(map(str, detail["loc"]))
    return f"{field}: {detail['msg']}" if field else detail["msg"]


def read(path: Path) -> History | None:
    """Return the history in a file; None if there is no file. Raises HistoryError."""
    try:
        return parse(path.read_bytes(), path.name)
    except FileNotFoundError:
        return None


class Writer:
    """A file to which a program in Python writes events as they happen. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def write(self, event: Event) -> None:
        """Write a line, which stays even if the program is killed."""
        values = event.model_dump(exclude_none=True)
        self._file.write(json.dumps(values) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
