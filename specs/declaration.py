"""The idiom in which a message is declared: named fields, all versions of an API in one place.

    "topic"    / String.until(12)          a field that left after version 12
    "topic_id" / Uuid.since(13)            one that came with version 13
    "rack"     / String.nullable(since=1)  null allowed from version 1
    "epoch"    / Int32.tag(0).default(-1)  a tagged field of a flexible version (KIP-482)
    "error"    / Int8.releases(until="3.6")  one that later releases left out of the same version

Compact and tagged encodings follow from an API's `flexible` version; nobody writes them by hand.
A declaration holds no bytes and no logic: `barnabas.specs.layout` resolves it for one version, and
`barnabas.specs.message` makes the two back-ends from that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

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
