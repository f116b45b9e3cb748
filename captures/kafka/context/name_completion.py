"""Add topic names where a message only has ids, in the field that its earlier versions have.

So a condition like `topics[?topic == 'orders']` works for Fetch v11 and v13 alike (KIP-516).
"""

from __future__ import annotations

import base64
import binascii
import functools
import uuid
from collections.abc import Mapping
from typing import Any

from barnabas.captures.kafka.context.id_names import TOPIC, IdField, id_fields, name_beside
from barnabas.specs.entities import values_at
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout
from barnabas.specs.registry import api


@functools.lru_cache(4096)
def gaps(key: int, version: int, direction: Direction) -> tuple[IdField, ...]:
    """Return the structures that have a topic id, and in an earlier version the name.

    >>> gaps(1, 13, "response")
    (IdField(path=('responses',), id='topic_id', name='topic'),)
    """
    named_structures = []
    for structure in id_fields(key, version, direction, TOPIC):
        if structure.name is None:
            for earlier in range(version - 1, api(key).versions[0] - 1, -1):
                name = _name(api(key).message(direction).layout(earlier), structure.path)
                if name is not None:
                    named_structures.append(structure._replace(name=name))
                    break
    return tuple(named_structures)


def _name(layout: Layout, path: tuple[str, ...]) -> str | None:
    if not path:
        return name_beside(layout, TOPIC)
    holder = layout.find(".".join(path))
    structure = None if holder is None else holder.node.inner.struct
    return None if structure is None else name_beside(structure, TOPIC)


def complete(
    values: dict[str, Any],
    key: int,
    version: int,
    direction: Direction,
    topics: Mapping[uuid.UUID, str],
) -> dict[str, set[uuid.UUID]]:
    """Add names to a decoded body, or its JSON form, where it only has ids; an unknown name is null.

    Returns:
        The ids without a known name, by the name of the field that could not be filled.
    """
    unknown: dict[str, set[uuid.UUID]] = {}
    for path, id_field, name in gaps(key, version, direction):
        assert name is not None  # noqa: S101
        for struct in values_at(values, path):
            if id_field in struct:
                topic = _uuid(struct[id_field])
                struct[name] = topics.get(topic)
                if struct[name] is None:
                    unknown.setdefault(name, set()).add(topic)
    return unknown


def _uuid(value: uuid.UUID | str) -> uuid.UUID:
    if isinstance(value, uuid.UUID):
        return value
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(value + "=="))
    except (ValueError, binascii.Error):
        return uuid.UUID(int=0)
