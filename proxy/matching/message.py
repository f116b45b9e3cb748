"""One message as rules see it."""

from __future__ import annotations

import contextlib
import struct
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from barnabas.captures.kafka.context.id_names import TOPIC, id_fields_without_names
from barnabas.captures.kafka.context.name_completion import complete
from barnabas.captures.kafka.context.sessions import Sessions
from barnabas.captures.kafka.errors import error_codes
from barnabas.captures.kafka.exchange import body_version
from barnabas.captures.kafka.expression import Unclear
from barnabas.captures.values.value import Values
from barnabas.proxy.matching.contents import names_any
from barnabas.specs import api
from barnabas.specs.codec import Codec, TooLarge, Unfit
from barnabas.specs.dialects.keys import error_in_header
from barnabas.specs.entities import (
    Entity,
    entity_paths,
    named,
    partition_places,
    partitions_in,
    values_at,
)
from barnabas.specs.frames import Direction, Short, request_head
from barnabas.specs.jsonform import to_json
from barnabas.specs.malformed import Malformed

T = TypeVar("T")

Partition = tuple[str | None, uuid.UUID | None, int]
"""The topic's name, if it is known; its id, if the message has it; the partition's index."""


_UNREAD: Final[Any] = object()
_SIZE: Final = struct.Struct(">i")


MOST_RECORDS: Final = 100_000
"""The most batches of a record set, or records of a batch, that a fault reads: more would delay all
clients."""

CONNECT: Final = -2
"""The API key that stands for an attempt to connect."""


class Unnamed(Unclear):
    """The error that a message names topics by ids whose names are unknown."""

    def __init__(self, ids: Iterable[uuid.UUID]) -> None:
        super().__init__("topic ID not yet resolved")
        self.ids = frozenset(ids)


class Unseen(Unclear):
    """The error that a response's request passed before any rule needed the names in it."""

    def __init__(self) -> None:
        super().__init__("its request passed before any rule needed the names in it")


class UnknownSession(Unclear):
    """The error that a request's session began before a rule that needs its partitions."""

    def __init__(self) -> None:
        super().__init__("the session began before the rule: its partitions are unknown")


class Unable(ValueError):
    """The error that a fault cannot be applied to this message, which stays unchanged.

    `place` is the text without the message's bytes, if they are the reason; `ids` are of topics whose names
    the fault lacks.
    """

    def __init__(
        self, reason: str | Exception, prefix: str = "", ids: frozenset[uuid.UUID] = frozenset()
    ) -> None:
        super().__init__(f"{prefix}{reason}")
        self.ids = ids
        self.place = f"{prefix}{reason.place}" if isinstance(reason, Malformed) else str(self)


@dataclass(slots=True)
class Message:
    """A request or response on its way. Sizes are in bytes."""

    direction: Direction
    key: int
    version: int
    client_id: str | None
    broker: int | None
    """The node id; None while it is unknown."""
    connection: int
    """The proxy's number of the connection."""
    ordinal: int
    """The ordinal of the connection among that client's to that broker, from 0."""
    group: str | None
    size: int
    body: bytes | None
    """The body without the header; None if it was not collected."""
    request: bytes | None = None
    """The body of a response's request, if a rule needs it."""
    head: bytes = b""
    """The header, without the frame's size."""
    correlation_id: int = 0
    arrived: int = 0
    """The arrival in ns since the epoch."""
    acks: int | None = None
    """The acks of a Produce request."""
    listener: Callable[[int], tuple[str, int] | None] = field(default=lambda _: None, repr=False)
    """Node id -> the address at which clients reach that broker through the proxy, if it is known."""
    changed: tuple[str, ...] = ()
    """Descriptions of the changes by rules."""
    topics: Mapping[uuid.UUID, str] = field(default_factory=dict, repr=False, compare=False)
    """The known names of topics by id; they complete the fields."""
    sessions: Sessions | None = field(default=None, repr=False, compare=False)
    """The fetch and share sessions; None if the message is of no session."""
    reading: Values = field(default_factory=Values, repr=False, compare=False)
    """How the keys and values of the records are decoded."""
    quotes: bool = True
    """Whether error messages may quote bytes; False if payload is hidden."""
    too_large: str = ""
    """Why a body was not decoded, if it would take too much memory."""
    unnamed: dict[str, set[uuid.UUID]] = field(default_factory=dict, repr=False, compare=False)
    """Decoded fields that lack a topic's name, and the ids of those topics."""
    undecided_by_session: str = field(default="", repr=False, compare=False)
    """The rule that was undecided because the session of the request began before the rule."""
    missing_names: set[uuid.UUID] = field(default_factory=set, repr=False, compare=False)
    """The ids of topics without whose names a rule was undecided."""
    nameless: set[uuid.UUID] = field(default_factory=set, repr=False, compare=False)
    """The ids of topics without a known name, after `names` was called for topics."""
    _fields: Any = field(default=_UNREAD, init=False, repr=False, compare=False)
    _names: dict[Entity, set[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _partitions: frozenset[Partition] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _errors: set[int] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def frame(self) -> bytes:
        """Return the whole frame, with its size."""
        body = self.body or b""
        return _SIZE.pack(len(self.head) + len(body)) + self.head + body

    def become(self, body: bytes, head: bytes | None, what: str) -> None:
        """Replace the message's body, and its header if given; `what` describes the change."""
        self.body = body
        self.head = self.head if head is None else head
        self.size = len(self.head) + len(body)
        if self.acks is not None:
            with contextlib.suppress(Short, Malformed):
                self.acks = request_head(self.frame, 4, 4 + self.size).acks
        self.changed += (what,)
        self.forget()
        self.too_large = ""

    def forget(self) -> None:
        """Drop the decoded values: they take many times the message's bytes, and it may have to wait."""
        self._fields, self._errors = _UNREAD, None
        self._names.clear()
        self._partitions = None
        self.unnamed.clear()
        self.nameless.clear()

    def codec(self) -> Codec:
        """Return the codec of the body.

        Raises:
            LookupError: The API or version is unknown.
        """
        version = body_version(self.key, self.version, self.direction, self.body or b"")
        return api(self.key).message(self.direction).codec(version)

    def values(self) -> dict[str, Any]:
        """Decode the body; each call returns new values.

        Raises:
            Unable: The body cannot be read.
        """
        try:
            return self.codec().decode(self.body or b"")
        except (LookupError, Malformed) as problem:
            raise Unable(problem) from None

    def encoded(self, values: dict[str, Any]) -> bytes:
        """Encode values as a body of the message's API and version.

        Raises:
            Unable: The values do not fit.
        """
        try:
            return self.codec().encode(values)
        except (Unfit, LookupError) as problem:
            raise Unable(str(problem)) from None

    def names(self, entity: Entity) -> set[str]:
        """Return the topics, groups or transactional ids that the message or its request names."""
        if entity not in self._names:
            self._names[entity] = set(self._find(partial(self._named, entity)))
        return self._names[entity]

    def unclear(self, entity: Entity) -> Unclear | None:
        """Return why the message may name entities that `names` lacks; None if it names no others."""
        if entity == "topic" and self.nameless:
            return Unnamed(self.nameless)
        if self.too_large:
            return Unclear(self.too_large)
        if self.half_seen and names_any(entity, self.key, "request", self.version):
            return Unseen()
        return None

    @property
    def half_seen(self) -> bool:
        """Return whether the message is a response whose request was not retained."""
        return self.direction == "response" and self.request is None

    def partitions(self) -> frozenset[Partition]:
        """Return the partitions that the message or its request names."""
        if self._partitions is None:
            self._partitions = frozenset(self._find(self._indexes))
        return self._partitions

    def _indexes(self, direction: Direction, body: bytes) -> Iterator[Partition]:
        fields = partition_places(self.key, direction, self.version)
        if not fields:
            return
        codec = api(self.key).message(direction).codec(self.version)
        values = codec.project(*(path for field in fields for path in field.paths))(body)
        for name, topic, index in partitions_in(fields, values):
            yield name or self.topics.get(topic), topic, index

    def lacking(self, names: Iterable[str]) -> set[uuid.UUID]:
        """Return the ids of topics for which one of these fields lacks a name."""
        return {topic for name in names for topic in self.unnamed.get(name, ()) if topic.int}

    def _find(self, look: Callable[[Direction, bytes], Iterable[T]]) -> Iterator[T]:
        """Yield what a function finds in the body and in the request's body, as far as they can be read."""
        bodies: tuple[tuple[Direction, bytes | None], ...] = (
            (self.direction, self.body),
            ("request", None if self.direction == "request" else self.request),
        )
        for direction, body in bodies:
            if body is None:
                continue
            try:
                yield from look(direction, body)
            except (LookupError, Malformed) as problem:
                self._unread(problem)

    def _named(self, entity: Entity, direction: Direction, body: bytes) -> set[str]:
        key, version = self.key, self.version
        codec = api(key).message(direction).codec(version)
        ids = id_fields_without_names(key, version, direction, TOPIC) if entity == "topic" else ()
        by_id = ((*id_field.path, id_field.id) for id_field in ids)
        paths = (*entity_paths(entity, key, direction, version), *by_id)
        if not paths:
            return set()
        values = codec.project(*map(".".join, paths))(body)
        names = named(entity, key, direction, version, values)
        for id_field in ids:
            for topic_entry in values_at(values, id_field.path):
                name = self.topics.get(topic_entry[id_field.id])
                if name is not None:
                    names.add(name)
                elif topic_entry[id_field.id].int:
                    self.nameless.add(topic_entry[id_field.id])
        return names

    def errors(self) -> set[int]:
        """Return all error codes of a response, including 0."""
        if self._errors is None:
            self._errors = self._find_errors()
        return self._errors

    def _find_errors(self) -> set[int]:
        if self.direction == "request" or self.body is None:
            return set()
        if error_in_header(self.key):
            return {int.from_bytes(self.head[:2], signed=True)}
        try:
            version = body_version(self.key, self.version, self.direction, self.body)
            return error_codes(self.key, version, self.body)
        except (LookupError, Malformed) as problem:
            self._unread(problem)
            return set()

    def _unread(self, problem: Exception) -> None:
        if isinstance(problem, TooLarge):
            self.too_large = str(problem)

    def fields(self, *names: str) -> dict[str, Any] | None:
        """Return the body in its JSON form, or only these fields of it; None if it cannot be read.

        Where a version has a topic's id instead of its name, the name is added, or null. The whole body is
        decoded once. Single fields are decoded at each call, which is cheap, and works even if later bytes
        cannot be read.
        """
        if names and (self._fields is _UNREAD or self._fields is None):
            return self._decode(names)
        if self._fields is _UNREAD:
            self._fields = self._decode(())
        return self._fields  # type: ignore[no-any-return]

    def _decode(self, names: tuple[str, ...]) -> dict[str, Any] | None:
        body = self.body
        if body is None:
            return None
        try:
            version = body_version(self.key, self.version, self.direction, body)
            codec = self.codec()
            values = codec.project(*names)(body) if names else codec.decode(body)
        except (LookupError, Malformed) as problem:
            self._unread(problem)
            return None
        unnamed = complete(values, self.key, version, self.direction, self.topics)
        for name, ids in unnamed.items():
            self.unnamed.setdefault(name, set()).update(ids)
        return to_json(values)  # type: ignore[no-any-return]
