"""Names put back where a message has ids alone: as the field that its earlier versions have there.

So a condition like `topics[?topic == 'orders']` means the same of Fetch v11 and of v13 (KIP-516).
"""

from __future__ import annotations

import base64
import binascii
import functools
import uuid
from collections.abc import Mapping
from typing import Any

from barnabas.captures.kafka.context.id_names import TOPIC, Place, name_beside, places
from barnabas.specs.entities import values_at
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout
from barnabas.specs.registry import api


@functools.lru_cache(4096)
def gaps(key: int, version: int, direction: Direction) -> tuple[Place, ...]:
    """Where a message has a topic's id and an earlier version has its name.

    >>> gaps(1, 13, "response")
    (Place(path=('responses',), id='topic_id', name='topic'),)
    """
    found = []
    for place in places(key, version, direction, TOPIC):
        if place.name is None:
            for earlier in range(version - 1, api(key).versions[0] - 1, -1):
                name = _name(api(key).message(direction).layout(earlier), place.path)
                if name is not None:
                    found.append(place._replace(name=name))
                    break
    return tuple(found)


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
    """Put names into a decoded body, or its JSON form, where it has ids alone.

    Returns the fields that could not be filled everywhere, and the ids whose names are not known:
    there they are null.
    """
    unknown: dict[str, set[uuid.UUID]] = {}
    for path, found, name in gaps(key, version, direction):
        assert name is not None  # noqa: S101
        for struct in values_at(values, path):
            if found in struct:
                topic = _uuid(struct[found])
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
