"""The idiom in which a message is declared: named fields, all versions of an API in one place.

    "topic"    / String.until(12)          a field that left after version 12
    "topic_id" / Uuid.since(13)            one that came with version 13
    "rack"     / String.nullable(since=1)  null allowed from version 1
    "epoch"    / Int32.tag(0).default(-1)  a tagged field of a flexible version (KIP-482)
    "error"    / Int8.releases(until="3.6")  one that later releases left out of the same version

Compact and tagged encodings follow from an API's `flexible` version; nobody writes them by hand.
A declaration holds no bytes and no logic: `barnabas.specs.layout` resolves it for one version, and the two
back-ends (`barnabas.specs.reference` in construct, `barnabas.specs.codec` in generated Python) are made from
that.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import construct

    from barnabas.specs.codec import Codec
    from barnabas.specs.layout import Layout

UNSET: Final = object()
"""Stands for 'no default declared': the type's own zero value is meant."""

FOREVER: Final = 32767
"""The highest version that an int16 can name; the end of a range without an end."""


@dataclass(frozen=True, slots=True)
class Type:
    """What a field holds and in which versions; every modifier returns a changed copy."""

    kind: str
    element: Type | None = None
    fields: tuple[Field, ...] = ()
    first: int = 0
    last: int = FOREVER
    nullable_first: int | None = None
    nullable_last: int = FOREVER
    first_release: str | None = None
    last_release: str | None = None
    tag_number: int | None = None
    default_value: Any = field(default=UNSET, compare=False)
    classic: bool = False
    count: str = "int32"

    def since(self, version: int) -> Type:
        """Present from this version on."""
        return replace(self, first=version)

    def until(self, version: int) -> Type:
        """Present up to and including this version."""
        return replace(self, last=version)

    def nullable(self, since: int = 0, until: int = FOREVER) -> Type:
        """Null is allowed in these versions (both ends included)."""
        return replace(self, nullable_first=since, nullable_last=until)

    def releases(self, since: str | None = None, until: str | None = None) -> Type:
        """Present only in these releases of Kafka, both ends included; "3.6" means any 3.6.x.

        A few versions changed their bytes without changing their number. Who names no release
        gets the newest's layout.
        """
        return replace(self, first_release=since, last_release=until)

    def tag(self, number: int) -> Type:
        """Sent in the tagged section, and only if it differs from its default (KIP-482)."""
        return replace(self, tag_number=number)

    def default(self, value: Any) -> Type:
        """What stands in for the field where it is missing."""
        return replace(self, default_value=value)

    def inflexible(self) -> Type:
        """Keeps the classic encoding in flexible versions too (RequestHeader's client id)."""
        return replace(self, classic=True)

    def counted(self, by: Type) -> Type:
        """The classic encoding has this in front of an array, and not an int32: 0.7's way."""
        return replace(self, count=by.kind)

    def __rtruediv__(self, name: str) -> Field:
        return Field(name, self)


@dataclass(frozen=True, slots=True)
class Field:
    """A name and its type, written `"name" / Type` as in construct."""

    name: str
    type: Type


Bool = Type("bool")
Int8 = Type("int8")
Int16 = Type("int16")
UInt16 = Type("uint16")
Int32 = Type("int32")
UInt32 = Type("uint32")
Int64 = Type("int64")
Float64 = Type("float64")
Uuid = Type("uuid")
String = Type("string")
Bytes = Type("bytes")
Records = Type("records")
NullableString = String.nullable()
NullableBytes = Bytes.nullable()
NullableRecords = Records.nullable()


def Struct(*fields: Field) -> Type:  # noqa: N802 - reads as the types beside it
    """A structure inside a message."""
    return Type("struct", fields=fields)


def Array(*of: Type | Field) -> Type:  # noqa: N802 - reads as the types beside it
    """An array of one type, or of structures with these fields.

    >>> Array(Int32).element.kind, Array("a" / Int32, "b" / String).element.kind
    ('int32', 'struct')
    """
    if len(of) == 1 and isinstance(of[0], Type):
        return Type("array", element=of[0])
    fields = tuple(item for item in of if isinstance(item, Field))
    if len(fields) != len(of):
        raise TypeError("an array is of one type, or of named fields")
    return Type("array", element=Struct(*fields))


@dataclass(frozen=True, eq=False)
class Message:
    """One direction of an API (or a header, or a data message): its fields over all versions."""

    fields: tuple[Field, ...]
    flexible: int = FOREVER
    versions: tuple[int, int] = (0, FOREVER)
    name: str = ""

    def __init__(self, *fields: Field) -> None:
        object.__setattr__(self, "fields", fields)

    def of(self, name: str, versions: tuple[int, int], flexible: int) -> Message:
        """The same fields, told which message they are."""
        message = Message(*self.fields)
        object.__setattr__(message, "name", name)
        object.__setattr__(message, "versions", versions)
        object.__setattr__(message, "flexible", flexible)
        return message

    def layout(self, version: int, release: str | None = None) -> Layout:
        """The fields of one version, in the newest release or in the one that is named.

        Raises LookupError for a version that is not declared, ValueError for what names no release.
        """
        return _layout(self, version, release)

    def at(self, version: int, release: str | None = None) -> construct.Struct[Any]:
        """One version as a plain construct.Struct: the reference for valid frames."""
        return _reference(self, version, release)

    def codec(self, version: int, release: str | None = None) -> Codec:
        """One version as generated Python: the same results, fast and bounded. Made once."""
        return _codec(self, version, release)


@functools.cache
def _layout(message: Message, version: int, release: str | None) -> Layout:
    from barnabas.specs.layout import resolve

    low, high = message.versions
    if not low <= version <= high:
        raise LookupError(f"{message.name} has versions {low} to {high}, not {version}")
    return resolve(message, version, release)


@functools.cache
def _reference(message: Message, version: int, release: str | None) -> construct.Struct[Any]:
    from barnabas.specs.reference import reference

    return reference(message.layout(version, release))


@functools.cache
def _codec(message: Message, version: int, release: str | None) -> Codec:
    from barnabas.specs.codec import Codec

    newest = message.codec(version) if release is not None else None
    layout = message.layout(version, release)
    if newest is not None and newest.layout == layout:
        return newest  # most messages are the same in every release
    return Codec(layout, f"{message.name}_v{version}")


@dataclass(frozen=True, eq=False)
class Api:
    """One API: its key, the versions that any release ever had, and both directions.

    stable: the newest version that a release has made final. One behind it is still being worked on
    (Kafka's latestVersionUnstable): brokers offer it with `unstable.api.versions.enable` only.
    """

    key: int
    name: str
    versions: tuple[int, int]
    stable: int
    flexible: int
    request: Message
    response: Message

    def __init__(
        self,
        key: int,
        name: str,
        *,
        versions: tuple[int, int],
        flexible: int | None,
        request: Message,
        response: Message,
        unstable: int | None = None,
    ) -> None:
        since = FOREVER if flexible is None else flexible
        for attribute, value in (
            ("key", key),
            ("name", name),
            ("versions", versions),
            ("stable", versions[1] if unstable is None else unstable - 1),
            ("flexible", since),
            ("request", request.of(f"{name}Request", versions, since)),
            ("response", response.of(f"{name}Response", versions, since)),
        ):
            object.__setattr__(self, attribute, value)

    def message(self, direction: str) -> Message:
        """The message of a direction, "request" or "response"."""
        return self.request if direction == "request" else self.response
