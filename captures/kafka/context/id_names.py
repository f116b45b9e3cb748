"""Where a message has an id and a name side by side, and where it has the id alone.

Found in the layouts, so an API that is added is heard without being listed here.
"""

from __future__ import annotations

import contextlib
import functools
import uuid
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.reading import fields_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import text_uuid
from barnabas.specs.layout import Layout
from barnabas.specs.registry import NAMES, api


class Kind(NamedTuple):
    """What an id and a name are called in messages, and the least id that is one."""

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


class Place(NamedTuple):
    """A structure with an id: where it stands, what the id is called there, and the name."""

    path: tuple[str, ...]
    id: str
    name: str | None


def ids_with_names(exchange: Exchange, kind: Kind) -> Iterator[tuple[Any, str]]:
    """(id, name) wherever an exchange has both."""
    for direction, body in _bodies(exchange):
        yield from ids_with_names_in(exchange.key, exchange.version, direction, body, kind)


def ids_with_names_in(
    key: int, version: int, direction: Direction, body: bytes, kind: Kind
) -> Iterator[tuple[Any, str]]:
    """(id, name) wherever a message has both."""
    for found, name in _read(key, version, direction, body, kind, named=True):
        if name:
            yield found, name


def ids_without_names(exchange: Exchange, kind: Kind) -> Iterator[Any]:
    """The ids that stand in an exchange without a name."""
    for direction, body in _bodies(exchange):
        message = exchange.key, exchange.version, direction, body
        for found, _ in _read(*message, kind, named=False):
            yield found


def _bodies(exchange: Exchange) -> Iterator[tuple[Direction, bytes]]:
    if exchange.request_body is not None:
        yield "request", exchange.request_body
    if exchange.response_body is not None:
        yield "response", exchange.response_body


def _read(
    key: int, version: int, direction: Direction, body: bytes, kind: Kind, *, named: bool
) -> Iterator[tuple[Any, str | None]]:
    wanted = [
        place
        for place in places(key, version, direction, kind)
        if (place.name is not None) == named
    ]
    if not wanted:
        return
    paths = [
        ".".join((*place.path, name))
        for place in wanted
        for name in (place.id, place.name)
        if name is not None
    ]
    values = fields_of(key, version, direction, body, *paths)
    for place in wanted:
        for struct in structs(values, place.path):
            found = struct.get(place.id)
            if found is not None and int(found) >= kind.least:
                yield found, struct.get(place.name) if place.name else None


def structs(value: Any, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The structures at a path, through arrays."""
    if isinstance(value, list):
        for item in value:
            yield from structs(item, path)
    elif isinstance(value, dict):
        if path:
            yield from structs(value.get(path[0]), path[1:])
        else:
            yield value


@functools.lru_cache(4096)
def places(key: int, version: int, direction: Direction, kind: Kind) -> tuple[Place, ...]:
    """Where such ids stand in a message. None in one that is not known.

    >>> places(3, 12, "response", TOPIC)
    (Place(path=('topics',), id='topic_id', name='name'),)
    """
    if key not in NAMES or not api(key).versions[0] <= version <= api(key).versions[1]:
        return ()
    return tuple(_places(api(key).message(direction).layout(version), kind, ()))


@functools.lru_cache(4096)
def places_without_names(
    key: int, version: int, direction: Direction, kind: Kind
) -> tuple[Place, ...]:
    """Where such ids stand without a name beside them.

    >>> places_without_names(78, 1, "response", TOPIC)
    (Place(path=('responses',), id='topic_id', name=None),)
    """
    return tuple(place for place in places(key, version, direction, kind) if place.name is None)


def _places(layout: Layout, kind: Kind, path: tuple[str, ...]) -> Iterator[Place]:
    names = [slot.name for slot in layout.slots]
    beside = next((name for name in names if name in kind.names), None)
    for slot in layout.slots:
        if slot.name in kind.ids:
            yield Place(path, slot.name, beside)
        inner = slot.node.element or slot.node
        if inner.struct is not None:
            yield from _places(inner.struct, kind, (*path, slot.name))
