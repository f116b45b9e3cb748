"""What a program says of itself while it runs: a JSON object a line, written as things happen.

{"event": "sent", "id": "order-1", "topic": "orders", "transaction": "t1"}
{"event": "acknowledged", "id": "order-1", "topic": "orders", "partition": 0, "offset": 41}
{"event": "transaction", "transaction": "t1", "outcome": "committed"}
{"event": "consumed", "consumer": "c1", "id": "order-1", "topic": "orders", "partition": 0, "offset": 41}

An `id` is what makes a record recognisable in its topic: by default its value as text. Whoever sends
the same record again says `sent` again. The order of lines is the order of events: `sent` stands
before the record is handed to the client, everything else after the client has said it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from barnabas.proxy.matching.settings import Settings

Topic = Annotated[str, Field(min_length=1)]
Partition = Annotated[int, Field(ge=0)]
Offset = Annotated[int, Field(ge=0)]
Place = tuple[str, int]
"""A topic and a partition."""


class Sent(Settings):
    """A record is handed to a client. If nothing is said of it later, its outcome is unknown."""

    event: Literal["sent"] = "sent"
    id: str
    topic: Topic
    producer: str = ""
    """Who sends it: order is promised among the records of one producer."""
    transaction: str | None = None
    """The transaction that it is part of; any name that is the transaction's own."""


class Acknowledged(Settings):
    """The client says that the record is written."""

    event: Literal["acknowledged"] = "acknowledged"
    id: str
    topic: Topic
    partition: Partition | None = None
    offset: Offset | None = None


class Failed(Settings):
    """The client says that the record is not written, for certain. A time-out is not certain."""

    event: Literal["failed"] = "failed"
    id: str
    topic: Topic


class Transaction(Settings):
    """The client says what became of a transaction; the last such line counts."""

    event: Literal["transaction"] = "transaction"
    transaction: str
    outcome: Literal["committed", "aborted", "unknown"]


class Consumer(Settings):
    """What a consumer is; of one that nobody declares: without a group, reading uncommitted."""

    event: Literal["consumer"] = "consumer"
    consumer: str
    group: str | None = None
    isolation: Literal["read_committed", "read_uncommitted"] = "read_uncommitted"
    reset: Literal["earliest", "latest"] | None = None
    """Where it begins if nothing is committed (auto.offset.reset); None: that is not said."""
    share: bool = False
    """Whether its group is a share group (KIP-932): any member may be given any record, again until one has
    accepted it, and in no order."""


class Assigned(Settings):
    """A consumer got a partition, or sought in it: it may go on anywhere."""

    event: Literal["assigned"] = "assigned"
    consumer: str
    topic: Topic
    partition: Partition


class Consumed(Settings):
    """A consumer was given a record."""

    event: Literal["consumed"] = "consumed"
    consumer: str
    id: str
    topic: Topic
    partition: Partition
    offset: Offset


class Accepted(Settings):
    """A member of a share group acknowledged a record, and the client knows that it was taken."""

    event: Literal["accepted"] = "accepted"
    consumer: str
    topic: Topic
    partition: Partition
    offset: Offset


class OffsetCommitted(Settings):
    """A group's offset was committed, and the client knows: the next record it would read."""

    event: Literal["offset_committed"] = "offset_committed"
    group: str
    topic: Topic
    partition: Partition
    offset: Offset


Event = (
    Sent
    | Acknowledged
    | Failed
    | Transaction
    | Consumer
    | Assigned
    | Consumed
    | Accepted
    | OffsetCommitted
)
_EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="event")])


class HistoryError(ValueError):
    """A history can't be read; the text names the line."""


class History:
    """The events of a run, and what follows from them."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events = tuple(events)

    @cached_property
    def topics(self) -> frozenset[str]:
        """All topics that are named."""
        return frozenset(
            event.topic for event in self.events if not isinstance(event, Transaction | Consumer)
        )

    @cached_property
    def sent(self) -> dict[tuple[str, str], tuple[Sent, ...]]:
        """(topic, id) -> every time that it was sent, in the order of the first."""
        found: dict[tuple[str, str], list[Sent]] = {}
        for event in self.events:
            if isinstance(event, Sent):
                found.setdefault((event.topic, event.id), []).append(event)
        return {key: tuple(sends) for key, sends in found.items()}

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """Transaction -> what the client said last of it."""
        return {
            event.transaction: event.outcome
            for event in self.events
            if isinstance(event, Transaction)
        }

    @cached_property
    def failed(self) -> frozenset[tuple[str, str]]:
        """(topic, id) of records that are said not to be written."""
        return frozenset((e.topic, e.id) for e in self.events if isinstance(e, Failed))

    @cached_property
    def promised(self) -> dict[tuple[str, str], None]:
        """(topic, id) of records that must be in the log, in the order in which they were sent:
        acknowledged outside transactions, or part of one that is said to be committed."""
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
        """(topic, id) of records that were sent only in transactions said to be aborted."""
        return frozenset(key for key, sends in self.sent.items() if all(map(self.aborted, sends)))

    def aborted(self, send: Sent) -> bool:
        """Whether a record was sent in a transaction that is said to be aborted."""
        return send.transaction is not None and self.outcomes.get(send.transaction) == "aborted"

    @cached_property
    def consumers(self) -> dict[str, Consumer]:
        """Consumers by name, as declared."""
        return {event.consumer: event for event in self.events if isinstance(event, Consumer)}

    def consumer(self, name: str) -> Consumer:
        """A consumer, declared or not."""
        return self.consumers.get(name) or Consumer(consumer=name)

    @cached_property
    def consumed(self) -> tuple[Consumed, ...]:
        """What consumers were given, in order."""
        return tuple(event for event in self.events if isinstance(event, Consumed))


def parse(text: bytes, name: str = "history") -> History:
    """A history from its lines, in UTF-8. The last one is left out if its end is missing: whoever
    wrote it was ended meanwhile. Raises HistoryError.

    >>> parse(b'{"event": "sent", "id": "a", "topic": "t"}\\n{"eve').events[0].id
    'a'
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
        if isinstance(event, Acknowledged | Failed) and (event.topic, event.id) not in history.sent:
            raise HistoryError(
                f"{name}:{number}: {event.id!r} is {event.event}, but no earlier line says that it was sent"
            )
    return history


def _reason(problem: ValidationError) -> str:
    detail = problem.errors(include_url=False)[0]
    where = ".".join(map(str, detail["loc"]))
    return f"{where}: {detail['msg']}" if where else detail["msg"]


def read(path: Path) -> History | None:
    """The history in a file; None if there is none. Raises HistoryError."""
    try:
        return parse(path.read_bytes(), path.name)
    except FileNotFoundError:
        return None


class Writer:
    """Writes events to a file as they happen, for programs in Python. Not for several threads."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def write(self, event: Event) -> None:
        """Add a line, so that it stays whatever happens next."""
        values = event.model_dump(exclude_none=True)
        self._file.write(json.dumps(values) + "\n")

    def close(self) -> None:
        """End it."""
        self._file.close()
