"""The fields of all bodies, by the paths that a filter uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from barnabas.specs.dialects import dialects
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.layout import Layout
from barnabas.specs.registry import NAMES, api, codec_of


@cache
def body_fields() -> dict[str, str]:
    """Return the names of the APIs that have a field, by the field's path in a filter.

    >>> body_fields()["response.brokers[].host"]
    'Metadata, DescribeCluster'
    """
    names_by_path: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for key, name in (*NAMES.items(), *_of_dialects()):
        oldest, newest = api(key).versions
        for version in range(newest, oldest - 1, -1):
            for direction in DIRECTIONS:
                for path in _paths(codec_of(key, version, direction).layout):
                    names_by_path[f"{direction}.{path}"][name] = None
    return {path: ", ".join(names) for path, names in names_by_path.items()}


def _of_dialects() -> Iterator[tuple[int, str]]:
    """Yield the APIs of dialects, with the name of the dialect."""
    for dialect in dialects():
        for dialect_api in dialect.apis:
            yield own_key(dialect, dialect_api), f"{dialect_api.name} ({dialect.name})"


def _paths(layout: Layout) -> Iterator[str]:
    for slot in layout.slots:
        node, name = slot.node, slot.name
        while node.element is not None:
            node, name = node.element, f"{name}[]"
        yield name
        if node.struct is not None:
            yield from (f"{name}.{inner}" for inner in _paths(node.struct))
