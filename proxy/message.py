"""One message as rules see it."""

from __future__ import annotations

import contextlib
import struct
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from captures.context.completing import complete, gaps
from captures.errors import error_codes, error_paths
from captures.exchange import body_version
from specs import api
from specs.codec import Codec, Unfit
from specs.contents import name_of
from specs.drafts.keys import error_in_header
from specs.entities import Entity, entity_paths, named
from specs.frames import Direction, Short, request_head
from specs.jsonform import to_json
from specs.malformed import Malformed


def known(key: int, version: int) -> bool:
    """Whether an API and version is declared."""
    return name_of(key) is not None and api(key).versions[0] <= version <= api(key).versions[1]


def names_any(entity: Entity, key: int, direction: Direction, version: int) -> bool:
    """Whether such a message may name such a thing, or the request that it answers.

    >>> names_any("group", 12, "response", 1), names_any("topic", 12, "response", 1)
    (True, False)
    """
    ways: set[Direction] = {"request", direction}
    return known(key, version) and any(
        entity_paths(entity, key, way, version) or (entity == "topic" and gaps(key, version, way))
        for way in ways
    )


def has_errors(key: int, direction: Direction, version: int) -> bool:
    """Whether there is room for an error code in such a message."""
    if direction == "request" or not known(key, version):
        return False
    return error_in_header(key) or bool(error_paths(key, version))


_UNREAD: Final[Any] = object()
_SIZE: Final = struct.Struct(">i")


CONNECT: Final = -2
"""The key that stands for an attempt to connect, where rules count such attempts."""


class Unable(ValueError):
    """A fault can't be done to this message, and why: the message stays as it is."""


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
    unnamed: frozenset[str] = frozenset()
    """Fields that lack a name, once they were looked at: a topic's id is not known."""
    _fields: Any = field(default=_UNREAD, init=False, repr=False, compare=False)
    _names: dict[Entity, set[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
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
        self._fields, self._errors = _UNREAD, None
        self._names.clear()

    def codec(self) -> Codec:
        """The codec of its body. Raises LookupError for an unknown API or version."""
        version = body_version(self.key, self.version, self.direction, self.body or b"")
        return api(self.key).message(self.direction).codec(version)

    def values(self) -> dict[str, Any]:
        """Its decoded body, new at each call. Raises Unable if it can't be read."""
        try:
            return self.codec().decode(self.body or b"")
        except (LookupError, Malformed) as problem:
            raise Unable(str(problem)) from None

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
            self._names[entity] = self._find_names(entity)
        return self._names[entity]

    def _find_names(self, entity: Entity) -> set[str]:
        found: set[str] = set()
        bodies: tuple[tuple[Direction, bytes | None], ...] = (
            (self.direction, self.body),
            ("request", None if self.direction == "request" else self.request),
        )
        for direction, body in bodies:
            if body is None:
                continue
            try:
                found |= self._named(entity, direction, body)
            except (LookupError, Malformed):
                continue
        return found

    def _named(self, entity: Entity, direction: Direction, body: bytes) -> set[str]:
        key, version = self.key, self.version
        codec = api(key).message(direction).codec(version)
        if entity == "topic" and gaps(key, version, direction):
            values = codec.decode(body)
            self.unnamed |= complete(values, key, version, direction, self.topics)
            named_in = max(v for v in range(version) if not gaps(key, v, direction))
            return named(entity, key, direction, named_in, values)
        paths = entity_paths(entity, key, direction, version)
        if not paths:
            return set()
        values = codec.project(*map(".".join, paths))(body)
        return named(entity, key, direction, version, values)

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
        except (LookupError, Malformed):
            return set()

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
        except (LookupError, Malformed):
            return None
        self.unnamed |= complete(found, self.key, version, self.direction, self.topics)
        return to_json(found)  # type: ignore[no-any-return]
