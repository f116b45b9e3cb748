"""A declaration resolved for one version: which fields there are and how each is encoded.

The back-ends and everything that walks a message (JSON, projections, addresses, the check of a rule's
field names) start from this tree and need not know about versions. `Layout.walk` lists all fields with
their paths, `Layout.find` looks one up; only what makes something of each structure descends by itself.
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
"""The value of a field whose declaration names no default; 0 for the integers."""


@dataclass(frozen=True, slots=True)
class Node:
    """The encoding of one value. `compact`: lengths are unsigned varints of length + 1.

    `tagged`: stands in a tagged section. There a nullable structure has 1 in front, and 0 is null;
    elsewhere -1 is.
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
        """The integer in front of it in the classic encoding."""
        return "int16" if self.kind == "string" else self.count

    @property
    def inner(self) -> Node:
        """The encoding of an array's elements; of a value that is no array, its own."""
        return self if self.element is None else self.element.inner

    def fitted(self, value: Any) -> Any:
        """Return a value with the fields that its structures have in this version; see `Layout`."""
        if self.element is not None and isinstance(value, list | tuple):
            return [self.element.fitted(item) for item in value]
        if self.struct is not None and isinstance(value, Mapping):
            return self.struct.fitted(value)
        return value


@dataclass(frozen=True, slots=True)
class Slot:
    """A named place in a structure; `tag` is None for a field that is always sent."""

    name: str
    node: Node
    tag: int | None
    default: Any

    def fresh_default(self) -> Any:
        """The default, as a new object where it is mutable."""
        if self.node.kind == "array" and self.default is not None:
            return []
        if self.node.struct is not None and self.node.kind == "struct" and self.default is not None:
            return self.node.struct.defaults()
        return self.default


class LocatedSlot(NamedTuple):
    """A slot, the names of the fields that lead to it, and the structure in which it stands."""

    path: tuple[str, ...]
    slot: Slot
    around: Layout

    @property
    def dotted(self) -> str:
        """The path as a text, e.g. `topics.partitions.index`."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Layout:
    """A structure at one version: all slots in declared order; flexible ones end with tags."""

    slots: tuple[Slot, ...]
    flexible: bool
    foreign_tags: frozenset[int] = frozenset()
    """Tags that other versions give a meaning: Kafka refuses them here, unlike unknown ones."""
    plain: tuple[Slot, ...] = field(init=False, repr=False, compare=False)
    """The slots that are always sent, in wire order."""
    tagged: tuple[Slot, ...] = field(init=False, repr=False, compare=False)
    """The slots of the tagged section, in order of their tags."""

    def __post_init__(self) -> None:
        # found once: who reads a message asks at every structure in it
        plain = tuple(slot for slot in self.slots if slot.tag is None)
        tagged = sorted(
            (slot for slot in self.slots if slot.tag is not None), key=lambda s: s.tag or 0
        )
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "tagged", tuple(tagged))

    def defaults(self) -> dict[str, Any]:
        """A new value of this structure with every field at its default."""
        return {slot.name: slot.fresh_default() for slot in self.slots}

    def walk(self, above: tuple[str, ...] = ()) -> Iterator[LocatedSlot]:
        """Yield every slot, and after each the slots of the structures in it.

        Args:
            above: The path of this structure, which the paths begin with.
        """
        for slot in self.slots:
            path = (*above, slot.name)
            yield LocatedSlot(path, slot, self)
            inner = slot.node.inner.struct
            if inner is not None:
                yield from inner.walk(path)

    def find(self, path: str) -> Slot | None:
        """Return the slot at a dotted path; None if this version has no such field."""
        name, _, rest = path.partition(".")
        slot = next((slot for slot in self.slots if slot.name == name), None)
        if slot is None or not rest:
            return slot
        inner = slot.node.inner.struct
        return None if inner is None else inner.find(rest)

    def fitted(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what this version can hold of the values, and defaults for the rest."""
        found: dict[str, Any] = {}
        for slot in self.slots:
            value = values.get(slot.name)
            missing = value is None and not (slot.node.nullable and slot.name in values)
            found[slot.name] = slot.fresh_default() if missing else slot.node.fitted(value)
        return found


def resolve(
    fields: tuple[Field, ...], version: int, release: str | None = None, *, flexible: bool
) -> Layout:
    """The layout of these fields at a version, in a release of Kafka or in the newest (None)."""
    wanted = None if release is None else _release(release)
    return _struct(fields, version, wanted, flexible)


def _release(text: str) -> tuple[int, ...]:
    """A release as numbers that compare; what stands behind a dash comes before the release itself.

    >>> _release("3.6.2"), _release("0.8.2-beta")
    ((3, 6, 2), (0, 8, 2, -1))
    """
    numbers, dash, _ = text.partition("-")
    try:
        return tuple(int(number) for number in numbers.split(".")) + ((-1,) if dash else ())
    except ValueError:
        raise ValueError(f"{text!r} is no release of Kafka; one is e.g. 3.6.2") from None


def _in_release(kind: Type, release: tuple[int, ...] | None) -> bool:
    """Whether a release has a field: compared as far as the declared one goes ("3.6" is any 3.6.x)."""
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
