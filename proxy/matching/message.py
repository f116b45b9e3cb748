"""One message as rules see it."""

from __future__ import annotations

import contextlib
import struct
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from barnabas.captures.kafka.context.completing import complete
from barnabas.captures.kafka.context.id_names import TOPIC, places_without_names
from barnabas.captures.kafka.errors import error_codes
from barnabas.captures.kafka.exchange import body_version
from barnabas.captures.kafka.expression import Unclear
from barnabas.captures.values.value import Values
from barnabas.proxy.matching.kinds import names_any
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
"""The topic's name, if it is known; its id, if that is given; the index."""


_UNREAD: Final[Any] = object()
_SIZE: Final = struct.Struct(">i")


MOST_RECORDS: Final = 100_000
"""Batches of a record set, or records of one, that a fault takes apart: more would stop all clients."""

CONNECT: Final = -2
"""The key that stands for an attempt to connect, where rules count such attempts."""


class Unnamed(Unclear):
    """A message names topics by ids whose names are not known."""

    def __init__(self, ids: Iterable[uuid.UUID]) -> None:
        super().__init__("topic ID not yet resolved")
        self.ids = frozenset(ids)


class Unseen(Unclear):
    """A response's request passed before any rule asked what it names."""

    def __init__(self) -> None:
        super().__init__("its request passed before any rule needed the names in it")


class Unable(ValueError):
    """A fault can't be done to this message, and why: the message stays as it is.

    `place` says no more than where the message can't be read, if that is why.
    """

    def __init__(self, why: str | Exception, where: str = "") -> None:
        super().__init__(f"{where}{why}")
        self.place = f"{where}{why.place}" if isinstance(why, Malformed) else str(self)


@dataclass(slots=True)
class Message:
    """A request or response on its way. Sizes are in bytes."""

    direction: Direction
    key: int
    version: int
    client_id: str | None
    broker: int | None
    """Node id, None while it is unknown."""
    connection: int
    """The proxy's number of the connection."""
    ordinal: int
    """Of the connection among that client's to that broker, from 0."""
    group: str | None
    size: int
    body: bytes | None
    """Without the header; None if it was not collected."""
    request: bytes | None = None
    """Of a response: the body of its request, where some rule needs that."""
    head: bytes = b""
    """The header, without the frame's size."""
    correlation_id: int = 0
    arrived: int = 0
    """When it came, in ns since the epoch."""
    acks: int | None = None
    """Of a Produce request."""
    listener: Callable[[int], tuple[str, int] | None] = field(default=lambda _: None, repr=False)
    """Node id -> where clients reach that broker through the proxy, if that is known."""
    changed: tuple[str, ...] = ()
    """What rules changed in it, in words."""
    topics: Mapping[uuid.UUID, str] = field(default_factory=dict, repr=False, compare=False)
    """Names of topics by id, as far as they are known: they complete the fields."""
    reading: Values = field(default_factory=Values, repr=False, compare=False)
    """How the keys and values of its records are read."""
    quotes: bool = True
    """Whether it may be told what its bytes are; else payload is hidden."""
    too_large: str = ""
    """Why its body, or its request's, was not decoded, if it would take too much memory."""
    unnamed: dict[str, set[uuid.UUID]] = field(default_factory=dict, repr=False, compare=False)
    """Fields that lack a name, once they were looked at, and the ids of topics there."""
    wanted: set[uuid.UUID] = field(default_factory=set, repr=False, compare=False)
    """Ids of topics without whose names some rule could not be decided."""
    nameless: set[uuid.UUID] = field(default_factory=set, repr=False, compare=False)
    """Ids of topics without a known name, once `names` was asked for topics."""
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
        """The whole frame, with its size."""
        body = self.body or b""
        return _SIZE.pack(len(self.head) + len(body)) + self.head + body

    def become(self, body: bytes, head: bytes | None, what: str) -> None:
        """Be another message from here on."""
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
        """Let go what was decoded: it takes many times its bytes, and the message may have to wait."""
        self._fields, self._errors = _UNREAD, None
        self._names.clear()
        self._partitions = None
        self.unnamed.clear()
        self.nameless.clear()

    def codec(self) -> Codec:
        """The codec of its body. Raises LookupError for an unknown API or version."""
        version = body_version(self.key, self.version, self.direction, self.body or b"")
        return api(self.key).message(self.direction).codec(version)

    def values(self) -> dict[str, Any]:
        """Its decoded body, new at each call. Raises Unable if it can't be read."""
        try:
            return self.codec().decode(self.body or b"")
        except (LookupError, Malformed) as problem:
            raise Unable(problem) from None

    def encoded(self, values: dict[str, Any]) -> bytes:
        """A body of its API and version. Raises Unable if the values do not fit."""
        try:
            return self.codec().encode(values)
        except (Unfit, LookupError) as problem:
            raise Unable(str(problem)) from None

    def names(self, entity: Entity) -> set[str]:
        """The topics, groups or transactional ids that it names, or that the request names which it
        answers."""
        if entity not in self._names:
            self._names[entity] = set(self._find(partial(self._named, entity)))
        return self._names[entity]

    def unclear(self, entity: Entity) -> Unclear | None:
        """Why it may be about other such things than `names` has; None if those are all."""
        if entity == "topic" and self.nameless:
            return Unnamed(self.nameless)
        if self.too_large:
            return Unclear(self.too_large)
        if self.half_seen and names_any(entity, self.key, "request", self.version):
            return Unseen()
        return None

    @property
    def half_seen(self) -> bool:
        """Whether it answers a request that nobody kept."""
        return self.direction == "response" and self.request is None

    def partitions(self) -> frozenset[Partition]:
        """The partitions that it names, or that the request names which it answers."""
        if self._partitions is None:
            self._partitions = frozenset(self._find(self._indexes))
        return self._partitions

    def _indexes(self, direction: Direction, body: bytes) -> Iterator[Partition]:
        places = partition_places(self.key, direction, self.version)
        if not places:
            return
        codec = api(self.key).message(direction).codec(self.version)
        values = codec.project(*(path for place in places for path in place.paths))(body)
        for name, topic, index in partitions_in(places, values):
            yield name or self.topics.get(topic), topic, index

    def lacking(self, names: Iterable[str]) -> set[uuid.UUID]:
        """The ids of topics for which one of these fields lacks a name."""
        return {topic for name in names for topic in self.unnamed.get(name, ()) if topic.int}

    def _find(self, look: Callable[[Direction, bytes], Iterable[T]]) -> Iterator[T]:
        """What is in its body, and in that of its request, as far as they can be read."""
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
        ids = places_without_names(key, version, direction, TOPIC) if entity == "topic" else ()
        by_id = ((*place.path, place.id) for place in ids)
        paths = (*entity_paths(entity, key, direction, version), *by_id)
        if not paths:
            return set()
        values = codec.project(*map(".".join, paths))(body)
        found = named(entity, key, direction, version, values)
        for place in ids:
            for about in values_at(values, place.path):
                name = self.topics.get(about[place.id])
                if name is not None:
                    found.add(name)
                elif about[place.id].int:
                    self.nameless.add(about[place.id])
        return found

    def errors(self) -> set[int]:
        """All error codes of a response, 0 if it has one that says so."""
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
        """The body in its JSON form, or just these of its fields; None if it can't be read.

        Where a version has a topic's id in place of its name, the name is there too, or null.
        The whole is decoded once; some of it each time, which costs little, and can be read even if
        what stands behind it can't.
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
            codec = api(self.key).message(self.direction).codec(version)
            found = codec.project(*names)(body) if names else codec.decode(body)
        except (LookupError, Malformed) as problem:
            self._unread(problem)
            return None
        unnamed = complete(found, self.key, version, self.direction, self.topics)
        for name, ids in unnamed.items():
            self.unnamed.setdefault(name, set()).update(ids)
        return to_json(found)  # type: ignore[no-any-return]
