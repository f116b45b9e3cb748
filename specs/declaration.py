"""The notation in which messages are declared: named fields, with all versions of an API in one place.

     "topic"    / String.until(12)          a field that version 13 removed
     "topic_id" / Uuid.since(13)            a field that version 13 added
     "rack"     / String.nullable(since=1)  null is allowed from version 1
     "epoch"    / Int32.tag(0).default(-1)  a tagged field of a flexible version (KIP-482)
     "error"    / Int8.releases(until="3.6")  a field that later releases removed from the same version

Compact and tagged encodings follow from an API's `flexible` version; a declaration never states them. A
declaration contains no bytes and no logic: `barnabas.specs.layout` resolves it for one version, and
`barnabas.specs.message` makes the two back-ends from the layout.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

UNSET: Final = object()
"""Marks that no default is declared: the field's default is the zero value of its type."""

FOREVER: Final = 32767
"""The highest version an int16 can hold: the end of a range without an end."""


@dataclass(frozen=True, slots=True)
class Type:
    """The content of a field, and the versions that have it; every modifier returns a changed copy."""

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
        """Return a type for a field that exists from this version on."""
        return replace(self, first=version)

    def until(self, version: int) -> Type:
        """Return a type for a field that exists up to this version, inclusive."""
        return replace(self, last=version)

    def nullable(self, since: int = 0, until: int = FOREVER) -> Type:
        """Return a type that allows null in these versions, both inclusive."""
        return replace(self, nullable_first=since, nullable_last=until)

    def releases(self, since: str | None = None, until: str | None = None) -> Type:
        """Return a type for a field that exists only in these releases of Kafka, both inclusive.

        "3.6" means any 3.6.x. In a few cases a release changed the bytes of a version without changing its
        number. Without a release, the layout of the newest release is used.
        """
        return replace(self, first_release=since, last_release=until)

    def tag(self, number: int) -> Type:
        """Return a type for a field of the tagged section.

        Such a field is sent only if it differs from its default (KIP-482).
        """
        return replace(self, tag_number=number)

    def default(self, value: Any) -> Type:
        """Return a type with a default, which is the field's value where the field is missing."""
        return replace(self, default_value=value)

    def inflexible(self) -> Type:
        """Return a type with the classic encoding in flexible versions, too (RequestHeader's client id)."""
        return replace(self, classic=True)

    def counted(self, by: Type) -> Type:
        """Return an array type whose classic encoding has a count of this type, not int32 (Kafka 0.7)."""
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
    """Return the type of a structure with these fields."""
    return Type("struct", fields=fields)


def Array(*of: Type | Field) -> Type:  # noqa: N802 - reads as the types beside it
    """Return the type of an array of one type, or of structures with these fields.

    >>> Array(Int32).element.kind, Array("a" / Int32, "b" / String).element.kind
    ('int32', 'struct')
    """
    if len(of) == 1 and isinstance(of[0], Type):
        return Type("array", element=of[0])
    fields = tuple(item for item in of if isinstance(item, Field))
    if len(fields) != len(of):
        raise TypeError("an array is of one type, or of named fields")
    return Type("array", element=Struct(*fields))
