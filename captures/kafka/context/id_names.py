"""Where a message has an id and a name side by side, and where it has the id alone.

Found in the layouts, so an API that is added is heard without being listed here.
"""

from __future__ import annotations

import contextlib
import functools
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.reading import fields, fields_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.entities import values_at
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import text_uuid, uuid_text
from barnabas.specs.layout import Layout
from barnabas.specs.registry import NAMES, api


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """What an id and a name are called in messages, and the least id that is one. Hashed as itself."""

    ids: frozenset[str]
    names: frozenset[str]
    least: int


TOPIC: Final = Kind(frozenset({"topic_id"}), frozenset({"name", "topic", "topic_name"}), least=1)
PRODUCER: Final = Kind(
    frozenset({"producer_id", "v3_and_below_producer_id"}),
    frozenset({"transactional_id", "v3_and_below_transactional_id"}),
    least=0,
)


def names_by_id(names: Any) -> dict[uuid.UUID, str]:
    """Names by id, as a capture's own words have them. What is none is left out.

    >>> names_by_id({"AAAAAAAAAAAAAAAAAAAAAQ": "orders", "?": "clicks"})
    {UUID('00000000-0000-0000-0000-000000000001'): 'orders'}
    """
    found = {}
    for text, name in names.items() if isinstance(names, dict) else ():
        with contextlib.suppress(ValueError):
            found[text_uuid(text)] = str(name)
    return found


def name_of(topic: uuid.UUID | str, names: Mapping[uuid.UUID, str]) -> str:
    """The name of a topic that is known by either; its id as Kafka prints it if nobody knows the name."""
    return topic if isinstance(topic, str) else names.get(topic) or uuid_text(topic)


class Place(NamedTuple):
    """A structure with an id: where it stands, what the id is called there, and the name."""

    path: tuple[str, ...]
    id: str
    name: str | None


def ids_with_names(exchange: Exchange, kind: Kind) -> Iterator[tuple[Any, str]]:
    """(id, name) wherever an exchange has both."""
    for direction in directions(exchange.key, exchange.version, kind, True):
        wanted, paths = _wanted(exchange.key, exchange.version, direction, kind, True)
        yield from _named(fields(exchange, direction, *paths), wanted, kind)


def ids_with_names_in(
    key: int, version: int, direction: Direction, body: bytes | None, kind: Kind
) -> Iterator[tuple[Any, str]]:
    """(id, name) wherever a message has both."""
    wanted, paths = _wanted(key, version, direction, kind, True)
    values = fields_of(key, version, direction, body, *paths) if wanted else None
    return _named(values, wanted, kind)


def ids_without_names(exchange: Exchange, kind: Kind) -> list[Any]:
    """The ids that stand in an exchange without a name."""
    ids: list[Any] = []
    for direction in directions(exchange.key, exchange.version, kind, False):
        wanted, paths = _wanted(exchange.key, exchange.version, direction, kind, False)
        values = fields(exchange, direction, *paths)
        ids += [found for found, _ in _pairs(values, wanted, kind)]
    return ids


@functools.lru_cache(4096)
def directions(key: int, version: int, kind: Kind, named: bool) -> tuple[Direction, ...]:
    """Those of an API's messages that have such ids with a name, or without one."""
    return tuple(way for way in DIRECTIONS if _wanted(key, version, way, kind, named)[0])


@functools.lru_cache(4096)
def _wanted(
    key: int, version: int, direction: Direction, kind: Kind, named: bool
) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """The places of such ids in a message, and the paths of all fields needed of it."""
    wanted = tuple(
        place
        for place in places(key, version, direction, kind)
        if (place.name is not None) == named
    )
    paths = tuple(
        ".".join((*place.path, name))
        for place in wanted
        for name in (place.id, place.name)
        if name is not None
    )
    return wanted, paths


def _named(
    values: dict[str, Any] | None, wanted: tuple[Place, ...], kind: Kind
) -> Iterator[tuple[Any, str]]:
    return ((found, name) for found, name in _pairs(values, wanted, kind) if name)


def _pairs(
    values: dict[str, Any] | None, wanted: tuple[Place, ...], kind: Kind
) -> Iterator[tuple[Any, str | None]]:
    """The ids at these places of a body, each with the name beside it."""
    for place in wanted:
        for struct in values_at(values, place.path):
            found = struct.get(place.id)
            if found is not None and int(found) >= kind.least:
                yield found, struct.get(place.name) if place.name else None


@functools.lru_cache(4096)
def places(key: int, version: int, direction: Direction, kind: Kind) -> tuple[Place, ...]:
    """Where such ids stand in a message. None in one that is not known.

    >>> places(3, 12, "response", TOPIC)
    (Place(path=('topics',), id='topic_id', name='name'),)
    """
    if key not in NAMES or not api(key).versions[0] <= version <= api(key).versions[1]:
        return ()
    return tuple(
        Place(path[:-1], slot.name, name_beside(around, kind))
        for path, slot, around in api(key).message(direction).layout(version).walk()
        if slot.name in kind.ids
    )


@functools.lru_cache(4096)
def places_without_names(
    key: int, version: int, direction: Direction, kind: Kind
) -> tuple[Place, ...]:
    """Where such ids stand without a name beside them.

    >>> places_without_names(78, 1, "response", TOPIC)
    (Place(path=('responses',), id='topic_id', name=None),)
    """
    return _wanted(key, version, direction, kind, False)[0]


def name_beside(structure: Layout, kind: Kind) -> str | None:
    """Return the field of a structure that has the name; None if there is none."""
    return next((slot.name for slot in structure.slots if slot.name in kind.names), None)
