"""Valid bodies of any layout for the edges that readers miss: nulls, empty values, limits, unknown tags."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.numbers import RANGE
from barnabas.specs.layout import Layout, Node

Amount = Literal["all", "some", "none"]


class BodyCase(NamedTuple):
    """The kind of values in a body.

    Attributes:
        name: The name of the case.
        description: For the manifest.
        elements: Numbers of elements of arrays.
        nulls: Which nullable fields are null; "some": those that are neither arrays nor structures.
        chance_of_null: A nullable field is null once in this many times; 0: never.
        numbers: "any", or all numbers at this limit of their type.
        size: Bytes of text and bytes; None: several sizes.
        tagged: Which tagged fields are present.
        unknown: Whether each structure has unknown tagged fields.
        many: Whether arrays of numbers have MANY elements.
    """

    name: str
    description: str
    elements: tuple[int, ...] = (1, 2)
    nulls: Amount = "none"
    chance_of_null: int = 0
    numbers: Literal["any", "least", "most"] = "any"
    size: int | None = None
    tagged: Amount = "all"
    unknown: bool = False
    many: bool = False


DEFAULTS: Final = BodyCase("defaults", "each field at its default")
LONG: Final = 300
"""Bytes of long text: its length takes two bytes as a varint."""

MANY: Final = 130
"""Elements of a long array: their number takes two bytes as a varint."""

# fmt: off
CASES: Final[tuple[BodyCase, ...]] = (
    DEFAULTS,
    BodyCase("full", "all fields set, also tagged ones, to several values"),
    BodyCase("nulls-all", "null wherever it is allowed", nulls="all"),
    BodyCase("nulls-leaf", "null in fields that are neither arrays nor structures", (1,), nulls="some"),
    BodyCase("empties", "empty arrays, text and bytes", (0,), size=0),
    BodyCase("largest", f"largest numbers, {MANY} of them in arrays, text and bytes of {LONG} bytes", (1,),
             numbers="most", size=LONG, many=True),
    BodyCase("smallest", "smallest numbers, text and bytes of one byte", (1,), numbers="least", size=1),
    BodyCase("unknown-tags", "unknown tagged fields in each structure of a flexible version", unknown=True),
    BodyCase("random-0", "some of all that", (0, 1, 1, 3), chance_of_null=4, tagged="some"),
    BodyCase("random-1", "some of all that", (0, 1, 1, 3), chance_of_null=4, tagged="some"),
)
# fmt: on

TAGS: Final = (100, 127, 128, 300, 16383, 16384, 2**31 - 2)
"""Numbers of unknown tags, around those where a varint grows."""

_TEXTS: Final = (
    "",
    "a",
    "topic-1",
    "group_ä",
    "日本語トピック",
    "emoji-😀-𝄞",
    'quote"back\\slash/tab\t',
    "\0nul\1",
    "\u07ff\u0800\uffff",
    "x" * 126,
    "y" * 127,
)
_DRAWS: Final = 8
_SIZES: Final = (0, 1, 7, 130)
_FLOATS: Final = (0.0, -0.0, 1.5, -1e300, 5e-324, 1.7976931348623157e308)
_IDS: Final = (uuid.UUID(int=0), uuid.UUID(int=1), uuid.UUID(int=(1 << 128) - 1))


def body(
    layout: Layout, case: BodyCase, dice: SeededRandom, record_sets: Sequence[bytes]
) -> dict[str, Any]:
    """Return the values of a body; fields of record sets have one of `record_sets`."""
    if case is DEFAULTS:
        return layout.defaults()
    return _Bodies(case, dice, record_sets).struct(layout)


class _Bodies:
    """Draws values of one case."""

    def __init__(self, case: BodyCase, dice: SeededRandom, record_sets: Sequence[bytes]) -> None:
        self.case, self.dice, self.record_sets = case, dice, record_sets
        self.drawn: set[Any] = set()
        """Ids, texts and numbers: one that identifies something is rarely drawn twice."""

    def struct(self, layout: Layout) -> dict[str, Any]:
        values = {
            slot.name: self.value(slot.node)
            for slot in layout.slots
            if slot.tag is None or self.case.tagged == "all" or self.dice.chance(2)
        }
        if layout.flexible and self.case.unknown:
            free = [tag for tag in TAGS if tag not in layout.foreign_tags]
            tags = sorted({self.dice.pick(free), self.dice.pick(free)})
            values["_tags"] = {tag: self.bytes() for tag in tags}
        return values

    def value(self, node: Node) -> Any:
        if node.nullable and self.is_null(node):
            return None
        if node.element is not None:
            return self.array(node.element)
        if node.struct is not None:
            return self.struct(node.struct)
        return self.scalar(node.kind)

    def scalar(self, kind: str) -> Any:
        match kind:
            case "bool":
                return self.dice.chance(2)
            case "float64":
                return self.dice.pick(_FLOATS)
            case "uuid":
                return self.fresh(self.uuid)
            case "string":
                return self.fresh(self.text)
            case "bytes":
                return self.bytes()
            case "records":
                return self.dice.pick(self.record_sets) if self.case.size != 0 else b""
            case "int8":  # codes, which identify nothing
                return self.number(kind)
        return self.fresh(lambda: self.number(kind))

    def fresh(self, draw: Callable[[], Any]) -> Any:
        """Return a value that was not drawn before, if a few draws give one."""
        value = draw()
        for _ in range(_DRAWS):
            if value not in self.drawn:
                break
            value = draw()
        self.drawn.add(value)
        return value

    def is_null(self, node: Node) -> bool:
        case = self.case
        leaf = node.element is None and node.struct is None
        if case.nulls == "all" or (case.nulls == "some" and leaf):
            return True
        return bool(case.chance_of_null) and self.dice.chance(case.chance_of_null)

    def array(self, element: Node) -> list[Any]:
        if element.kind not in ("struct", "string", "bytes", "array") and self.case.many:
            return [self.value(element) for _ in range(MANY)]
        values = [self.value(element) for _ in range(self.dice.pick(self.case.elements))]
        if element.struct is None:
            return values
        # most structures begin with what identifies them, and Kafka keeps one of equal ones in some arrays
        return list({repr(next(iter(each.values()), "")): each for each in values}.values())

    def uuid(self) -> uuid.UUID:
        return self.dice.pick((*_IDS, uuid.UUID(bytes=self.dice.some_bytes(16))))

    def text(self) -> str:
        size = self.case.size
        if size is not None:
            return "x" * size
        return self.dice.pick((*_TEXTS, self.dice.some_bytes(3).hex()))

    def bytes(self) -> bytes:
        size = self.case.size
        return self.dice.some_bytes(self.dice.pick(_SIZES) if size is None else size)

    def number(self, kind: str) -> int:
        least, most = RANGE[kind]
        if self.case.numbers != "any":
            return least if self.case.numbers == "least" else most
        low_bits = self.dice.below(most + 1) >> self.dice.below(most.bit_length())
        return self.dice.pick((0, 1, most, least, low_bits, max(least, -1), max(least, -low_bits)))
