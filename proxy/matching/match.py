"""Decides by everything but the body which messages a rule is about, and which one a hold waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import field_validator
from pydantic_core.core_schema import ValidationInfo

from barnabas.captures.kafka.expression import Unclear
from barnabas.captures.kafka.wording import joined
from barnabas.proxy.matching.contents import has_errors, has_partitions, names_any
from barnabas.proxy.matching.message import Message, Unnamed, Unseen
from barnabas.proxy.matching.notation import (
    LAST,
    NEWEST,
    Acks,
    ApiKeys,
    ErrorCodes,
    Globs,
    Integers,
    PartitionRanges,
    Partitions,
    SizeRange,
    VersionRange,
    Versions,
    range_text,
)
from barnabas.proxy.matching.settings import Settings
from barnabas.specs import NAMES, api
from barnabas.specs.dialects.keys import error_in
from barnabas.specs.entities import Entity
from barnabas.specs.frames import Direction
from barnabas.specs.keys import PRODUCE

Same = Literal["connection", "client", "group", "any"]
"""The scope of other messages: the same connection, client id or group, or any."""


def _any(globs: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


class Match(Settings):
    """The messages to match: all given conditions must hold; absent ones match any message."""

    api: ApiKeys = None
    """Name (in any case) or key of an API, or a list of them. Any if absent."""
    direction: Direction | None = None
    """`request` or `response`. Both if absent."""
    client_id: Globs = None
    """A glob (`orders-*`), or a list of them; case matters. A client without an id matches none."""
    version: VersionRange = None
    """A version of the API (`11`) or a range (`3-9`, `12+`)."""
    broker: Integers = None
    """Node id of a broker, or a list of them. A broker whose id is unknown matches none."""

    connection: Integers = None
    """Ordinal of a connection among that client's to that broker, from 0, or a list of them."""
    topic: Globs = None
    """A glob, or a list of them: the message or its request names a matching topic."""
    partition: PartitionRanges = None
    """A partition (`0`), a range (`0-2`, `12+`), or a list of them: the message or its request names such a
    partition; with `topic`, one of a matching topic."""
    group: Globs = None
    """A glob, or a list of them: the message or its request names a matching group."""
    transactional_id: Globs = None
    """A glob, or a list of them: the message or its request names a matching transactional id."""
    error: ErrorCodes = None
    """Name or code of an error, or a list of them: the response contains such an error."""
    size: SizeRange | None = None
    """The size of the message's frame in bytes."""
    acks: Acks = None
    """The acks of a Produce request: 0, 1 or all (-1), or a list of them."""

    @field_validator("version")
    @classmethod
    def _exists(cls, version: Versions | None, info: ValidationInfo) -> Versions | None:
        keys = info.data.get("api")
        if version is not None and keys and not any(_common(key, version) for key in keys):
            versions = ", ".join(
                f"{api(key).name} has versions {api(key).versions[0]} to {api(key).versions[1]}"
                for key in sorted(keys)
            )
            raise ValueError(f"v{range_text(*version, NEWEST)} does not exist: {versions}")
        return version

    def key_matches(self, direction: Direction, key: int, version: int) -> bool:
        """Return whether messages of this direction, API key and version can match."""
        if self.direction is not None and direction != self.direction:
            return False
        if self.api is not None and key not in self.api:
            return False
        if self.version is not None and not self.version[0] <= version <= self.version[1]:
            return False
        return not any(self.misses(direction, key, version))

    def misses(self, direction: Direction, key: int, version: int) -> Iterator[str]:
        """Yield the conditions that no such message can meet."""
        if self.acks is not None and (key, direction) != (PRODUCE, "request"):
            yield "acks"
        if self.error is not None and not has_errors(key, direction, version):
            yield "error"
        for entity, _ in self.entities:
            if not names_any(entity, key, direction, version):
                yield entity
        if self.partition is not None and not has_partitions(key, direction, version):
            yield "partition"

    def peer_matches(self, client_id: str | None, broker: int | None, ordinal: int) -> bool:
        """Return whether client id, broker and ordinal of the connection match."""
        if self.broker is not None and broker not in self.broker:
            return False
        if self.connection is not None and ordinal not in self.connection:
            return False
        return self.client_id is None or (client_id is not None and _any(self.client_id, client_id))

    def content_matches(self, message: Message) -> bool:
        """Return whether the message's size, acks, errors and entities match.

        Raises:
            Unclear: This cannot be decided yet.
        """
        if self.size is not None and not self.size.contains(message.size + 4):
            return False
        if self.acks is not None and message.acks not in self.acks:
            return False
        if not self._error_matches(message):
            return False
        unclear: Unclear | None = None
        for entity, globs in self.entities:
            if entity == "topic" and self.partition is not None:
                continue  # topic and partition must match together
            if not any(_any(globs, name) for name in message.names(entity)):
                unclear = message.unclear(entity)
                if unclear is None:
                    return False
        if self.partition is not None and not self._partition_matches(message, self.partition):
            return False
        if unclear is not None:
            raise unclear
        return True

    def _error_matches(self, message: Message) -> bool:
        if self.error is None or self.error & message.errors():
            return True
        if message.too_large:
            raise Unclear(message.too_large)
        return False

    def _partition_matches(self, message: Message, ranges: tuple[Partitions, ...]) -> bool:
        nameless = set()
        for name, topic, index in message.partitions():
            if any(low <= index <= high for low, high in ranges):
                if self.topic is None or (name is not None and _any(self.topic, name)):
                    return True
                if name is None and topic is not None and topic.int:
                    nameless.add(topic)
        if nameless:
            raise Unnamed(nameless)
        if message.too_large:
            raise Unclear(message.too_large)
        if message.half_seen and has_partitions(message.key, "request", message.version):
            raise Unseen
        return False

    @property
    def entities(self) -> list[tuple[Entity, tuple[str, ...]]]:
        """Return the kinds of entities that must be named, each with its globs."""
        conditions: list[tuple[Entity, tuple[str, ...] | None]] = [
            ("topic", self.topic),
            ("group", self.group),
            ("transactional_id", self.transactional_id),
        ]
        return [(entity, globs) for entity, globs in conditions if globs is not None]

    @property
    def names(self) -> bool:
        """Return whether the message must name an entity or a partition."""
        return bool(self.entities) or self.partition is not None

    @property
    def any_version(self) -> Match:
        """Return the same conditions for all versions."""
        return self.model_copy(update={"version": None})

    @property
    def only_broker(self) -> bool:
        """Return whether no condition but `broker` is given."""
        return self.model_fields_set <= {"broker"}

    @property
    def needs_body(self) -> bool:
        """Return whether the conditions need the body."""
        return self.error is not None or self.names

    def matches(self, message: Message) -> bool:
        """Return whether the message matches.

        Raises:
            Unclear: This cannot be decided yet.
        """
        return (
            self.key_matches(message.direction, message.key, message.version)
            and self.peer_matches(message.client_id, message.broker, message.ordinal)
            and self.content_matches(message)
        )

    def kinds(self) -> Iterable[tuple[int, Direction, int]]:
        """Yield every declared (key, direction, version) that can match."""
        directions: tuple[Direction, ...] = ("request", "response")
        for key in NAMES if self.api is None else sorted(self.api):
            for version in _common(key, self.version or (0, NEWEST)):
                for direction in directions:
                    if self.direction in (None, direction):
                        yield key, direction, version

    @property
    def kind(self) -> str:
        """Return APIs, direction and version as text.

        >>> Match.model_validate({"direction": "request", "topic": "orders"}).kind
        'request'
        """
        names = [] if self.api is None else [api(key).name for key in sorted(self.api)]
        words = [" or ".join(names), self.direction or "message"]
        if self.version is not None:
            words.append(f"v{range_text(*self.version, NEWEST)}")
        return joined(*words)

    def describe(self) -> str:
        """Return all conditions as text.

        >>> Match.model_validate({"api": "joingroup", "direction": "request"}).describe()
        'JoinGroup request'
        """
        key = min(self.api or (-1,))  # all of them are of one dialect
        named: list[tuple[str, Iterable[object]]] = [
            (" of client ", self.client_id or ()),
            (" at broker ", sorted(self.broker or ())),
            (" on connection ", sorted(self.connection or ())),
            *((f" of {entity} ", globs) for entity, globs in self.entities),
            (" of partition ", [range_text(*each, LAST) for each in self.partition or ()]),
            (" with ", [error_in(key, code) for code in sorted(self.error or ())]),
            (" ", () if self.size is None else [self.size.describe()]),
            (" with acks=", sorted(self.acks or ())),
        ]
        words = [text + " or ".join(map(str, values)) for text, values in named if values]
        return "".join((self.kind if self.api is not None else f"any {self.kind}", *words))


class Until(Match):
    """The message that a hold waits for."""

    same: Same = "connection"
    """Where the message must pass: on the same connection, with the same client id or group, or anywhere."""


def _common(key: int, versions: Versions) -> range:
    low, high = api(key).versions
    return range(max(low, versions[0]), min(high, versions[1]) + 1)
