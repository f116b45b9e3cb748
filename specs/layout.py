"""A declaration resolved for one version: which fields exist, and how each of them is encoded.

Codecs, and everything else that walks a message (JSON, projections, addresses, the check of field names in
rules), work on this tree and need no knowledge of versions. `Layout.walk` yields all fields with their paths.
`Layout.find` returns one field. Only code that builds something for each structure recurses itself.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from barnabas.specs.declaration import UNSET, Field, Type

ZEROS: dict[str, Any] = {
    "bool": False,
    "float64": 0.0,
    "uuid": uuid.UUID(int=0),
    "string": "",
    "bytes": b"",
    "records": b"",
}
"""The value of a field whose declaration names no default; integers have 0."""


@dataclass(frozen=True, slots=True)
class Node:
    """The encoding of one value.

    Attributes:
        compact: Lengths are unsigned varints of length + 1.
        tagged: The value is in a tagged section. There a nullable structure begins with 1, and 0 means null;
            elsewhere -1
            means null.
    """

    kind: str
    compact: bool
    nullable: bool
    element: Node | None = None
    struct: Layout | None = None
    count: str = "int32"
    tagged: bool = False

    @property
    def length_kind(self) -> str:
        """Return the type of the length in the classic encoding."""
        return "int16" if self.kind == "string" else self.count

    @property
    def inner(self) -> Node:
        """Return the encoding of an array's elements; for a value that is no array, this encoding."""
        return self if self.element is None else self.element.inner

    def fitted(self, value: Any) -> Any:
        """Return a value whose structures have the fields of this version (see `Layout.fitted`)."""
        if self.element is not None and isinstance(value, list | tuple):
            return [self.element.fitted(item) for item in value]
        if self.struct is not None and isinstance(value, Mapping):
            return self.struct.fitted(value)
        return value


@dataclass(frozen=True, slots=True)
class Slot:
    """A named field of a structure; `tag` is None for a field that is always sent."""

    name: str
    node: Node
    tag: int | None
    default: Any

    def fresh_default(self) -> Any:
        """Return the default; if it is mutable, a new object."""
        if self.node.kind == "array" and self.default is not None:
            return []
        if self.node.struct is not None and self.node.kind == "struct" and self.default is not None:
            return self.node.struct.defaults()
        return self.default


class LocatedSlot(NamedTuple):
    """A slot, the names of the fields that lead to it, and the structure that has it."""

    path: tuple[str, ...]
    slot: Slot
    around: Layout

    @property
    def dotted(self) -> str:
        """Return the path as text, such as `topics.partitions.index`."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Layout:
    """A structure at one version: all slots in declared order, and a tagged section if it is flexible."""

    slots: tuple[Slot, ...]
    flexible: bool
    foreign_tags: frozenset[int] = frozenset()
    """Tags that only other versions define. Kafka rejects them in this version, unlike unknown tags."""
    plain: tuple[Slot, ...] = field(init=False, repr=False, compare=False)
    """The slots that are always sent, in wire order."""
    tagged: tuple[Slot, ...] = field(init=False, repr=False, compare=False)
    """The slots of the tagged section, ordered by tag."""

    def __post_init__(self) -> None:
        # computed once: readers use them for every structure of a message
        plain = tuple(slot for slot in self.slots if slot.tag is None)
        tagged = sorted(
            (slot for slot in self.slots if slot.tag is not None), key=lambda s: s.tag or 0
        )
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "tagged", tuple(tagged))

    def defaults(self) -> dict[str, Any]:
        """Return a new value of this structure with every field at its default."""
        return {slot.name: slot.fresh_default() for slot in self.slots}

    def walk(self, above: tuple[str, ...] = ()) -> Iterator[LocatedSlot]:
        """Yield every slot, and after each slot the slots of the structures inside it.

        Args:
            above: The path of this structure, a prefix of all yielded paths.
        """
        for slot in self.slots:
            path = (*above, slot.name)
            yield LocatedSlot(path, slot, self)
            inner = slot.node.inner.struct
            if inner is not None:
                yield from inner.walk(path)

    def find(self, path: str) -> Slot | None:
        """Return the slot at a dotted path, or None if this version has no such field."""
        name, _, rest = path.partition(".")
        slot = next((slot for slot in self.slots if slot.name == name), None)
        if slot is None or not rest:
            return slot
        inner = slot.node.inner.struct
        return None if inner is None else inner.find(rest)

    def fitted(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that this version has fields for, with defaults for missing fields."""
        fitted_values: dict[str, Any] = {}
        for slot in self.slots:
            value = values.get(slot.name)
            missing = value is None and not (slot.node.nullable and slot.name in values)
            fitted_values[slot.name] = slot.fresh_default() if missing else slot.node.fitted(value)
        return fitted_values


def resolve(
    fields: tuple[Field, ...], version: int, release: str | None = None, *, flexible: bool
) -> Layout:
    """Return the layout of declared fields at a version, in a release of Kafka or in the newest (None)."""
    release_numbers = None if release is None else _release(release)
    return _struct(fields, version, release_numbers, flexible)


def _release(text: str) -> tuple[int, ...]:
    """Return a release as numbers that can be compared; a pre-release sorts before its release.

    >>> _release("3.6.2"), _release("0.8.2-beta")
    ((3, 6, 2), (0, 8, 2, -1))
    """
    numbers, dash, _ = text.partition("-")
    try:
        return tuple(int(number) for number in numbers.split(".")) + ((-1,) if dash else ())
    except ValueError:
        raise ValueError(f"{text!r} is not a release of Kafka, such as 3.6.2") from None


def _in_release(kind: Type, release: tuple[int, ...] | None) -> bool:
    """Return whether a release has a field; "3.6" stands for any 3.6.x."""
    if release is None:
        return kind.last_release is None
    padded = (*release, 0, 0, 0, 0)
    since, until = kind.first_release, kind.last_release
    if since is not None and padded[: len(_release(since))] < _release(since):
        return False
    return until is None or padded[: len(_release(until))] <= _release(until)


def _struct(
    fields: tuple[Field, ...], version: int, release: tuple[int, ...] | None, flexible: bool
) -> Layout:
    slots: list[Slot] = []
    foreign: set[int] = set()
    for item in fields:
        kind = item.type
        if not (kind.first <= version <= kind.last and _in_release(kind, release)):
            if kind.tag_number is not None:
                foreign.add(kind.tag_number)
            continue
        node = _node(kind, version, release, flexible)
        default = kind.default_value
        if default is UNSET or (default is None and not node.nullable):
            default = [] if kind.kind == "array" else ZEROS.get(kind.kind, 0)
        slots.append(Slot(item.name, node, kind.tag_number, default))
    present = {slot.tag for slot in slots}
    return Layout(tuple(slots), flexible, frozenset(foreign - present))


def _node(kind: Type, version: int, release: tuple[int, ...] | None, flexible: bool) -> Node:
    first = kind.nullable_first
    return Node(
        kind.kind,
        compact=flexible and not kind.classic,
        nullable=first is not None and first <= version <= kind.nullable_last,
        element=None if kind.element is None else _node(kind.element, version, release, flexible),
        struct=_struct(kind.fields, version, release, flexible) if kind.kind == "struct" else None,
        count=kind.count,
        tagged=kind.tag_number is not None,
    )
