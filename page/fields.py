"""The fields of bodies, by the paths that a filter names them with."""

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
    """The fields of all bodies as a filter names them, and in which APIs they are.

    >>> body_fields()["response.brokers[].host"]
    'Metadata, DescribeCluster'
    """
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for key, name in (*NAMES.items(), *_of_dialects()):
        oldest, newest = api(key).versions
        for version in range(newest, oldest - 1, -1):
            for direction in DIRECTIONS:
                for path in _paths(codec_of(key, version, direction).layout):
                    found[f"{direction}.{path}"][name] = None
    return {path: ", ".join(names) for path, names in found.items()}


def _of_dialects() -> Iterator[tuple[int, str]]:
    """Yield the APIs of dialects, with the name of the dialect."""
    for dialect in dialects():
        for one in dialect.apis:
            yield own_key(dialect, one), f"{one.name} ({dialect.name})"


def _paths(layout: Layout) -> Iterator[str]:
    for slot in layout.slots:
        node, name = slot.node, slot.name
        while node.element is not None:
            node, name = node.element, f"{name}[]"
        yield name
        if node.struct is not None:
            yield from (f"{name}.{inner}" for inner in _paths(node.struct))
