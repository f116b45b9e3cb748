"""Find the structures of messages that have an id with a name, or an id alone.

They are found in the layouts, so a new API needs no entry here.
"""

from __future__ import annotations

import contextlib
import functools
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.body_fields import fields, fields_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.entities import values_at
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import text_uuid, uuid_text
from barnabas.specs.layout import Layout
from barnabas.specs.registry import NAMES, api


@dataclass(frozen=True, slots=True, eq=False)
class Entity:
    """An entity with id and name: what messages call the two, and the lowest valid id. Hashed by identity."""

    ids: frozenset[str]
    names: frozenset[str]
    least: int


TOPIC: Final = Entity(frozenset({"topic_id"}), frozenset({"name", "topic", "topic_name"}), least=1)
PRODUCER: Final = Entity(
    frozenset({"producer_id", "v3_and_below_producer_id"}),
    frozenset({"transactional_id", "v3_and_below_transactional_id"}),
    least=0,
)


def names_by_id(names: Any) -> dict[uuid.UUID, str]:
    """Parse the names by id in the metadata of a capture; invalid entries are ignored.

    >>> names_by_id({"AAAAAAAAAAAAAAAAAAAAAQ": "orders", "?": "clicks"})
    {UUID('00000000-0000-0000-0000-000000000001'): 'orders'}
    """
    parsed = {}
    for text, name in names.items() if isinstance(names, dict) else ():
        with contextlib.suppress(ValueError):
            parsed[text_uuid(text)] = str(name)
    return parsed


def name_of(topic: uuid.UUID | str, names: Mapping[uuid.UUID, str]) -> str:
    """Return the name of a topic given by name or id; for an unknown name, its id as Kafka prints it."""
    return topic if isinstance(topic, str) else names.get(topic) or uuid_text(topic)


class IdField(NamedTuple):
    """A structure with an id: its path, the field of the id, and the field of the name."""

    path: tuple[str, ...]
    id: str
    name: str | None


def ids_with_names(exchange: Exchange, entity: Entity) -> Iterator[tuple[Any, str]]:
    """Yield each (id, name) of an exchange."""
    for direction in directions(exchange.key, exchange.version, entity, True):
        structures, paths = _fields_needed(exchange.key, exchange.version, direction, entity, True)
        yield from _named(fields(exchange, direction, *paths), structures, entity)


def ids_with_names_in(
    key: int, version: int, direction: Direction, body: bytes | None, entity: Entity
) -> Iterator[tuple[Any, str]]:
    """Yield each (id, name) of a message."""
    structures, paths = _fields_needed(key, version, direction, entity, True)
    values = fields_of(key, version, direction, body, *paths) if structures else None
    return _named(values, structures, entity)


def ids_without_names(exchange: Exchange, entity: Entity) -> list[Any]:
    """Return the ids of an exchange that have no name."""
    ids: list[Any] = []
    for direction in directions(exchange.key, exchange.version, entity, False):
        structures, paths = _fields_needed(exchange.key, exchange.version, direction, entity, False)
        values = fields(exchange, direction, *paths)
        ids += [id_ for id_, _ in _pairs(values, structures, entity)]
    return ids


@functools.lru_cache(4096)
def directions(key: int, version: int, entity: Entity, named: bool) -> tuple[Direction, ...]:
    """Return the directions of an API whose messages have such ids, with or without a name."""
    return tuple(
        direction
        for direction in DIRECTIONS
        if _fields_needed(key, version, direction, entity, named)[0]
    )


@functools.lru_cache(4096)
def _fields_needed(
    key: int, version: int, direction: Direction, entity: Entity, named: bool
) -> tuple[tuple[IdField, ...], tuple[str, ...]]:
    """Return the structures with such ids in a message, and the paths of all fields needed from it."""
    structures = tuple(
        structure
        for structure in id_fields(key, version, direction, entity)
        if (structure.name is not None) == named
    )
    paths = tuple(
        ".".join((*structure.path, name))
        for structure in structures
        for name in (structure.id, structure.name)
        if name is not None
    )
    return structures, paths


def _named(
    values: dict[str, Any] | None, structures: tuple[IdField, ...], entity: Entity
) -> Iterator[tuple[Any, str]]:
    return ((id_, name) for id_, name in _pairs(values, structures, entity) if name)


def _pairs(
    values: dict[str, Any] | None, structures: tuple[IdField, ...], entity: Entity
) -> Iterator[tuple[Any, str | None]]:
    """Yield each id in these structures of a body, with its name."""
    for structure in structures:
        for struct in values_at(values, structure.path):
            id_ = struct.get(structure.id)
            if id_ is not None and int(id_) >= entity.least:
                yield id_, struct.get(structure.name) if structure.name else None


@functools.lru_cache(4096)
def id_fields(key: int, version: int, direction: Direction, entity: Entity) -> tuple[IdField, ...]:
    """Return the structures of a message that have such an id; empty for an unknown version.

    >>> id_fields(3, 12, "response", TOPIC)
    (IdField(path=('topics',), id='topic_id', name='name'),)
    """
    if key not in NAMES or not api(key).versions[0] <= version <= api(key).versions[1]:
        return ()
    return tuple(
        IdField(path[:-1], slot.name, name_beside(around, entity))
        for path, slot, around in api(key).message(direction).layout(version).walk()
        if slot.name in entity.ids
    )


@functools.lru_cache(4096)
def id_fields_without_names(
    key: int, version: int, direction: Direction, entity: Entity
) -> tuple[IdField, ...]:
    """Return the structures of a message that have such an id without a name.

    >>> id_fields_without_names(78, 1, "response", TOPIC)
    (IdField(path=('responses',), id='topic_id', name=None),)
    """
    return _fields_needed(key, version, direction, entity, False)[0]


def name_beside(structure: Layout, entity: Entity) -> str | None:
    """Return the field of a structure that has the name; None without one."""
    return next((slot.name for slot in structure.slots if slot.name in entity.names), None)
