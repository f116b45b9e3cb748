"""Valid values of any message, made from its layout: once as functions, which then only draw."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple, get_args

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.numbers import RANGE
from barnabas.fuzz.generators import pools
from barnabas.fuzz.generators.hidden import hidden
from barnabas.specs.entities import Entity, entity_paths
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout, Node, Slot
from barnabas.specs.registry import api

Draw = Callable[[SeededRandom], Any]
"""Draws one value of a field."""

_UNKNOWN_ONE_IN: Final = 16
_DEPTH: Final = 2
"""Arrays at a greater depth than this are `deep`."""


class Shape(NamedTuple):
    """The shape of generated values.

    Attributes:
        sizes: Numbers of elements of arrays.
        deep: Numbers of elements of arrays deep inside.
        null_one_in: A nullable field is null once in this many times; 0 for never.
        tag_one_in: A tagged field has another value than its default once in this many times.
    """

    sizes: tuple[int, ...]
    deep: tuple[int, ...]
    null_one_in: int
    tag_one_in: int


ANY: Final = Shape((0, 1, 1, 1, 1, 2, 2, 3), (0, 1, 1), 5, 3)
SHAPES: Final = (
    ANY,
    Shape((1,), (1,), 0, 1),  # one element of each array, no nulls, all tagged fields
    Shape((2, 3), (1, 2), 5, 3),
    Shape((1,), (0, 1), 1, 1000),  # nulls and defaults wherever they are allowed
)
"""A target may reject what another one requires, so messages have alternating shapes."""


@functools.cache
def drawer(key: int, version: int, direction: Direction, shape: Shape = ANY) -> Draw:
    """Return a function that draws bodies of a message. Raises LookupError for an unknown version."""
    layout = api(key).message(direction).layout(version)
    entities: dict[tuple[str, ...], str] = {
        path: entity
        for entity in get_args(Entity)
        for path in entity_paths(entity, key, direction, version)
    }
    return _Maker(key, version, direction, entities, shape).struct(layout, ())


class _Maker:
    """A maker of drawing functions for one message."""

    def __init__(
        self,
        key: int,
        version: int,
        direction: Direction,
        entities: dict[tuple[str, ...], str],
        shape: Shape,
    ) -> None:
        self.key = key
        self.version = version
        self.direction = direction
        self.entities = entities
        self.shape = shape

    def struct(self, layout: Layout, path: tuple[str, ...]) -> Draw:
        """Return a function for all fields of a structure; it sometimes adds an unknown tag."""
        fields = [(slot.name, self.slot(slot, path)) for slot in layout.slots]
        if not layout.flexible:

            def draw(dice: SeededRandom) -> Any:
                return {name: field(dice) for name, field in fields}

            return draw
        taken = {slot.tag for slot in layout.slots} | layout.foreign_tags
        free = tuple(tag for tag in (100, 101, 500) if tag not in taken)

        def draw_flexible(dice: SeededRandom) -> Any:
            values = {name: field(dice) for name, field in fields}
            if dice.below(_UNKNOWN_ONE_IN) == 0:
                values["_tags"] = {dice.pick(free): dice.some_bytes(dice.below(4))}
            return values

        return draw_flexible

    def slot(self, slot: Slot, path: tuple[str, ...]) -> Draw:
        """Return a function for a field; a tagged one is mostly at its default."""
        inner = self.node(slot.node, (*path, slot.name))
        if slot.tag is None:
            return inner
        default, one_in = slot.fresh_default, self.shape.tag_one_in

        def draw(dice: SeededRandom) -> Any:
            return default() if dice.below(one_in) else inner(dice)

        return draw

    def node(self, node: Node, path: tuple[str, ...]) -> Draw:
        """Return a function for a value, which is sometimes null where that is allowed."""
        inner = self.present(node, path)
        one_in = self.shape.null_one_in
        if not node.nullable or not one_in:
            return inner

        def draw(dice: SeededRandom) -> Any:
            return None if dice.below(one_in) == 0 else inner(dice)

        return draw

    def present(self, node: Node, path: tuple[str, ...]) -> Draw:
        """Return a function for a value that is not null."""
        match node.kind:
            case "struct":
                assert node.struct is not None  # noqa: S101
                return self.struct(node.struct, path)
            case "array":
                assert node.element is not None  # noqa: S101
                return self.array(node.element, path)
            case "string":
                return _one_of(pools.texts_for(path[-1], self.entities.get(path)))
            case "uuid":
                return _one_of(pools.TOPIC_IDS if path[-1] == "topic_id" else pools.IDS)
            case "bool":
                return _one_of((False, True))
            case "bytes" | "records":
                return hidden(self.key, self.version, self.direction, path)
            case "float64":
                return _one_of((0.0, 1.0, -0.5, 1e300))
            case kind:
                return self.number(kind, path[-1])

    def array(self, element: Node, path: tuple[str, ...]) -> Draw:
        """Return a function for an array with a few elements."""
        draw_element = self.node(element, path)
        sizes = self.shape.sizes if len(path) <= _DEPTH else self.shape.deep
        number = len(sizes)

        def draw(dice: SeededRandom) -> Any:
            return [draw_element(dice) for _ in range(sizes[dice.below(number)])]

        return draw

    def number(self, kind: str, name: str) -> Draw:
        """Return a function for a number that makes sense in a field of this name."""
        low, high = RANGE[kind]
        values = pools.numbers_for(self.key, name) or (0, 1, 2, 7)
        return _one_of(tuple(value for value in values if low <= value <= high) or (0, 1))


def _one_of(values: tuple[Any, ...]) -> Draw:
    number = len(values)
    if number == 1:
        only = values[0]
        return lambda _: only

    def draw(dice: SeededRandom) -> Any:
        return values[dice.below(number)]

    return draw
