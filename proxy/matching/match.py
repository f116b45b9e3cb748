"""Which messages a rule is about, and which one a hold waits for: everything but the body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, StrictInt, StrictStr, WithJsonSchema, field_validator
from pydantic_core.core_schema import ValidationInfo

from barnabas.captures.kafka.expression import Unclear
from barnabas.captures.kafka.wording import joined
from barnabas.proxy.matching.message import (
    Message,
    Unnamed,
    Unseen,
    has_errors,
    has_partitions,
    names_any,
)
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Size
from barnabas.specs import NAMES, api, key_of
from barnabas.specs.drafts.idiom import Draft
from barnabas.specs.drafts.keys import error_in, key_in
from barnabas.specs.drafts.registry import DRAFTS
from barnabas.specs.entities import Entity
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.frames import Direction
from barnabas.specs.keys import PRODUCE

Same = Literal["connection", "client", "group", "any"]
"""Whose other message counts: on the same connection, of the same client id, of the same group."""
Versions = tuple[int, int]
"""A range of versions, both ends included."""
Partitions = tuple[int, int]
"""A range of partitions, both ends included."""

_NEWEST: Final = 32767
_LAST: Final = (1 << 31) - 1
_LARGEST: Final = 1 << 32
_ERRORS: Final = {error.name: error.code for error in ERROR_CODES}
_RANGE: Final = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10})|(\+))?")


def listed(value: Any) -> Any:
    """A single value as a list of one; None and collections as they are."""
    return value if value is None or isinstance(value, tuple | list | frozenset) else (value,)


def api_key(value: Any, dialect: Draft | None = None) -> int:
    """The key of an API by its key or name, as a dialect has it first, if one is spoken.

    Raises ValueError with the nearest name.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"must be the name or key of an API, not {value!r}")
    try:
        if dialect is not None:
            return key_in(dialect, value)
        return key_of(value)
    except LookupError as error:
        raise ValueError(str(error)) from None


def _spoken_key(value: Any, info: ValidationInfo) -> int:
    return api_key(value, (info.context or {}).get("dialect"))


def _spoken_error(value: Any, info: ValidationInfo) -> int:
    return error_code(value, (info.context or {}).get("dialect"))


def version_range(value: Any) -> Versions | None:
    """A range of versions as people write it (`11`, `3-9`, `12+`). Raises ValueError."""
    return None if value is None else _range(value, "version", _NEWEST)


def partition_range(value: Any) -> Partitions:
    """A range of partitions as people write it. Raises ValueError.

    >>> partition_range(3), partition_range("0-2"), partition_range("12+")
    ((3, 3), (0, 2), (12, 2147483647))
    """
    return _range(value, "partition", _LAST)


def _range(value: Any, what: str, last: int) -> tuple[int, int]:
    parts = _RANGE.fullmatch(str(value)) if type(value) in (int, str) else None
    if parts is None:
        raise ValueError(f"{value!r} is no {what}; write 11, 3-9 or 12+")
    low = int(parts[1])
    high = last if parts[3] else int(parts[2] or low)
    if low > high:
        raise ValueError(f"{value!r} ends before it begins")
    if high > last:
        raise ValueError(f"{value!r}: the last {what} is {last}")
    return low, high


def error_code(value: Any, dialect: Draft | None = None) -> int:
    """The code of an error by its name or code, as a dialect has it first, if one is spoken.

    Raises ValueError.
    """
    own = {} if dialect is None else {error.name.upper(): error.code for error in dialect.errors}
    if isinstance(value, str) and value.upper() in own:
        return own[value.upper()]
    if isinstance(value, str):
        if value.upper() not in _ERRORS:
            near = get_close_matches(value.upper(), _ERRORS, 1, cutoff=0)[0]
            raise ValueError(f"{value!r} is no error of Kafka's; did you mean {near!r}?")
        return _ERRORS[value.upper()]
    if isinstance(value, bool) or not isinstance(value, int) or not -32768 <= value <= 32767:
        raise ValueError(f"{value!r} is no error of Kafka's: give its name or code")
    return value


def _acks(value: Any) -> int:
    if value == "all":
        return -1
    if isinstance(value, bool) or value not in (-1, 0, 1):
        raise ValueError(f"{value!r} is no acks: 0, 1 or all")
    return int(value)


def _any(globs: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def one_or_more(item: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of one such item, or a list of them."""
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


_SPOKEN: Final = dict.fromkeys(api.name for one in DRAFTS for api in one.apis)
_ALL: Final = dict.fromkeys((*NAMES.values(), *_SPOKEN))
_NAMES: Final = [*_ALL, *(name.lower() for name in _ALL)]
API_SCHEMA: Final = {
    "anyOf": [{"enum": _NAMES}, {"type": "integer", "minimum": 0, "maximum": max(NAMES)}]
}
"""An API in JSON Schema, which can't say 'in any case': its name, in small letters too; nor can it say
which names a dialect has, so it takes those of all."""
VERSION_SCHEMA: Final = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": _NEWEST},
        {"type": "string", "pattern": r"^[0-9]+(-[0-9]+|\+)?$"},
    ]
}
"""A version or a range of them in JSON Schema."""
PARTITION_SCHEMA: Final = {
    "anyOf": [{"type": "integer", "minimum": 0, "maximum": _LAST}, VERSION_SCHEMA["anyOf"][1]]
}
"""A partition or a range of them in JSON Schema."""
_ApiKey = Annotated[int, BeforeValidator(_spoken_key)]
_Several = Field(strict=False, min_length=1)


Globs = Annotated[
    Annotated[tuple[StrictStr, ...], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more({"type": "string"})),
]
_ErrorCode = Annotated[int, BeforeValidator(_spoken_error)]
_Acks = Annotated[int, BeforeValidator(_acks)]


class SizeRange(Settings):
    """Sizes, both ends included."""

    at_least: Size = 0
    """No smaller."""
    at_most: Size | None = None
    """No larger."""

    def contains(self, size: int) -> bool:
        """Whether a size in bytes is one of them."""
        return size >= self.at_least and (self.at_most is None or size <= self.at_most)

    @property
    def frames(self) -> range:
        """The same as sizes of frames without their size field.

        >>> SizeRange.model_validate({"at_most": "10B"}).frames
        range(0, 7)
        """
        most = _LARGEST if self.at_most is None else self.at_most
        return range(max(self.at_least - 4, 0), max(most - 3, 0))

    def describe(self) -> str:
        """In words."""
        end = "" if self.at_most is None else f" to {self.at_most}"
        return f"of {self.at_least}{end} bytes"


class Match(Settings):
    """Which messages: all that is given must hold, what is left out may be anything."""

    api: Annotated[
        Annotated[frozenset[_ApiKey], _Several] | None,
        BeforeValidator(listed),
        WithJsonSchema(one_or_more(API_SCHEMA)),
    ] = None
    """Name (in any case) or key of an API, or a list of them. Any if absent."""
    direction: Direction | None = None
    """`request` or `response`. Both if absent."""
    client_id: Globs = None
    """A glob (`orders-*`), or a list of them, in this case. A client without an id matches none."""
    version: Annotated[
        Versions | None, BeforeValidator(version_range), WithJsonSchema(VERSION_SCHEMA)
    ] = None
    """A version of the API (`11`) or a range (`3-9`, `12+`)."""
    broker: Annotated[
        Annotated[frozenset[StrictInt], _Several] | None,
        BeforeValidator(listed),
        WithJsonSchema(one_or_more({"type": "integer"})),
    ] = None
    """Node id of a broker, or a list of them. A broker whose id is not known yet matches none."""

    connection: Annotated[
        Annotated[frozenset[StrictInt], _Several] | None,
        BeforeValidator(listed),
        WithJsonSchema(one_or_more({"type": "integer"})),
    ] = None
    """Ordinal of a connection among that client's to that broker, from 0, or a list of them."""
    topic: Globs = None
    """A glob, or a list: the message (or the request that it answers) names such a topic."""
    partition: Annotated[
        Annotated[tuple[Annotated[Partitions, BeforeValidator(partition_range)], ...], _Several]
        | None,
        BeforeValidator(listed),
        WithJsonSchema(one_or_more(PARTITION_SCHEMA)),
    ] = None
    """A partition (`0`), a range (`0-2`, `12+`), or a list: the message (or the request that it answers)
    names such a one; with `topic`, one of such a topic."""
    group: Globs = None
    """A glob, or a list: the message (or the request that it answers) names such a group."""
    transactional_id: Globs = None
    """A glob, or a list: the message (or the request that it answers) names such an id."""
    error: Annotated[
        Annotated[frozenset[_ErrorCode], _Several] | None,
        BeforeValidator(listed),
        WithJsonSchema(one_or_more({"type": ["string", "integer"]})),
    ] = None
    """Name or code of an error, or a list: a response that has such an error somewhere."""
    size: SizeRange | None = None
    """Bytes of the message's frame."""
    acks: Annotated[
        Annotated[frozenset[_Acks], _Several] | None,
        BeforeValidator(listed),
        WithJsonSchema(one_or_more({"enum": [-1, 0, 1, "all"]})),
    ] = None
    """What a Produce request waits for: 0, 1 or all (-1), or a list."""

    @field_validator("version")
    @classmethod
    def _exists(cls, version: Versions | None, info: ValidationInfo) -> Versions | None:
        keys = info.data.get("api")
        if version is not None and keys and not any(_common(key, version) for key in keys):
            known = ", ".join(
                f"{api(key).name} has versions {api(key).versions[0]} to {api(key).versions[1]}"
                for key in sorted(keys)
            )
            raise ValueError(f"{_range_text(version)} does not exist: {known}")
        return version

    def key_matches(self, direction: Direction, key: int, version: int) -> bool:
        """What can be told from the kind of message alone."""
        if self.direction is not None and direction != self.direction:
            return False
        if self.api is not None and key not in self.api:
            return False
        if self.version is not None and not self.version[0] <= version <= self.version[1]:
            return False
        return not any(self.misses(direction, key, version))

    def misses(self, direction: Direction, key: int, version: int) -> Iterator[str]:
        """What is asked for, and no message of this kind has."""
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
        """What can be told from who talks to whom, and on which connection."""
        if self.broker is not None and broker not in self.broker:
            return False
        if self.connection is not None and ordinal not in self.connection:
            return False
        return self.client_id is None or (client_id is not None and _any(self.client_id, client_id))

    def content_matches(self, message: Message) -> bool:
        """What can be told from the message itself. Raises Unclear if that is not known yet."""
        if self.size is not None and not self.size.contains(message.size + 4):
            return False
        if self.acks is not None and message.acks not in self.acks:
            return False
        if self.error is not None and not self.error & message.errors():
            if message.too_large:
                raise Unclear(message.too_large)
            return False
        unclear: Unclear | None = None
        for entity, globs in self.entities:
            if entity == "topic" and self.partition is not None:
                continue  # one and the same is to be of this topic, and such a partition
            if not any(_any(globs, name) for name in message.names(entity)):
                unclear = message.unclear(entity)
                if unclear is None:
                    return False
        if self.partition is not None and not self._partition_matches(message, self.partition):
            return False
        if unclear is not None:
            raise unclear
        return True

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
        """What is to be named, and how."""
        given: list[tuple[Entity, tuple[str, ...] | None]] = [
            ("topic", self.topic),
            ("group", self.group),
            ("transactional_id", self.transactional_id),
        ]
        return [(entity, globs) for entity, globs in given if globs is not None]

    @property
    def names(self) -> bool:
        """Whether something is to be named."""
        return bool(self.entities) or self.partition is not None

    @property
    def any_version(self) -> Match:
        """The same in all versions."""
        return self.model_copy(update={"version": None})

    @property
    def only_broker(self) -> bool:
        """Whether it names brokers, or nothing."""
        return self.model_fields_set <= {"broker"}

    @property
    def needs_body(self) -> bool:
        """Whether it looks into bodies."""
        return self.error is not None or self.names

    @property
    def needs_frame(self) -> bool:
        """Whether it asks for more than a message's kind and who talks to whom."""
        return self.needs_body or self.size is not None or self.acks is not None

    def matches(self, message: Message) -> bool:
        """Whether this is such a message. Raises Unclear if that is not known yet."""
        return (
            self.key_matches(message.direction, message.key, message.version)
            and self.peer_matches(message.client_id, message.broker, message.ordinal)
            and self.content_matches(message)
        )

    def kinds(self) -> Iterable[tuple[int, Direction, int]]:
        """Every (key, direction, version) that is declared and meant."""
        directions: tuple[Direction, ...] = ("request", "response")
        for key in NAMES if self.api is None else sorted(self.api):
            for version in _common(key, self.version or (0, _NEWEST)):
                for direction in directions:
                    if self.direction in (None, direction):
                        yield key, direction, version

    @property
    def kind(self) -> str:
        """Which kinds of message, in words: all that is asked for of APIs, direction and version.

        >>> Match.model_validate({"direction": "request", "topic": "orders"}).kind
        'request'
        """
        names = [] if self.api is None else [api(key).name for key in sorted(self.api)]
        words = [" or ".join(names), self.direction or "message"]
        if self.version is not None:
            words.append(_range_text(self.version))
        return joined(*words)

    def describe(self) -> str:
        """In words.

        >>> Match.model_validate({"api": "joingroup", "direction": "request"}).describe()
        'JoinGroup request'
        """
        words = [self.kind if self.api is not None else f"any {self.kind}"]
        if self.client_id is not None:
            words.append(f"of client {' or '.join(self.client_id)}")
        if self.broker is not None:
            words.append(f"at broker {' or '.join(map(str, sorted(self.broker)))}")
        if self.connection is not None:
            words.append(f"on connection {' or '.join(map(str, sorted(self.connection)))}")
        words += [f"of {entity} {' or '.join(globs)}" for entity, globs in self.entities]
        if self.partition is not None:
            ranges = (_span(*each, _LAST) for each in self.partition)
            words.append(f"of partition {' or '.join(ranges)}")
        if self.error is not None:
            key = min(self.api or (-1,))  # all of them are of one dialect
            names = [error_in(key, code) for code in sorted(self.error)]
            words.append(f"with {' or '.join(names)}")
        if self.size is not None:
            words.append(self.size.describe())
        if self.acks is not None:
            words.append(f"with acks={' or '.join(map(str, sorted(self.acks)))}")
        return " ".join(words)


class Until(Match):
    """The message that a hold waits for."""

    same: Same = "connection"
    """Where it must pass: on the same connection, of the same client id or group, or anywhere."""


def _common(key: int, versions: Versions) -> range:
    low, high = api(key).versions
    return range(max(low, versions[0]), min(high, versions[1]) + 1)


def _range_text(versions: Versions) -> str:
    return f"v{_span(*versions, _NEWEST)}"


def _span(low: int, high: int, last: int) -> str:
    """A range as people write it."""
    return f"{low}" if low == high else f"{low}+" if high == last else f"{low}-{high}"
