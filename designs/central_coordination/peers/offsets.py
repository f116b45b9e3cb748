"""Offsets of groups in the registry: an entry a group, as JSON, for who coordinates and for consumers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from barnabas.designs.brokers.registry.interface import ABSENT, Registry
from barnabas.designs.brokers.registry.paths import below
from barnabas.designs.central_coordination.peers.interest import Partition


def path_of(group: str) -> str:
    """Where a group's offsets stand; 0.7 has them below the same folder.

    >>> path_of("a/b")
    '/consumers/a%2Fb'
    """
    return below("/consumers", group)


def load(registry: Registry, group: str) -> dict[Partition, int]:
    """All offsets of a group. Raises ValueError for an entry that is none of offsets."""
    entry = registry.read(path_of(group))
    return {} if entry is None else _decoded(entry.data)


def store(registry: Registry, group: str, offsets: Mapping[Partition, int]) -> None:
    """Write some of a group's offsets; others stay. Raises ValueError as `load` does.

    No offset goes back. A consumer that comes back from a long pause tells where it was, and nothing in
    its answer says that others have owned the partition since: there are no generations.

    >>> from barnabas.designs.brokers.registry import MemoryRegistry
    >>> registry = MemoryRegistry()
    >>> store(registry, "g", {("t", "0-0"): 1}); store(registry, "g", {("t", "0-0"): 0, ("t", "0-1"): 2})
    >>> load(registry, "g")
    {('t', '0-0'): 1, ('t', '0-1'): 2}
    """
    while True:
        entry = registry.read(path_of(group))
        before = {} if entry is None else _decoded(entry.data)
        rows = [[*at, offset] for at, offset in farthest(before, offsets).items()]
        version = ABSENT if entry is None else entry.version
        if registry.write(path_of(group), json.dumps(rows).encode(), version):
            return


def farthest(
    before: Mapping[Partition, int], told: Mapping[Partition, int]
) -> dict[Partition, int]:
    """Of each partition the larger offset.

    >>> farthest({("t", "0-0"): 5}, {("t", "0-0"): 3, ("t", "0-1"): 3})
    {('t', '0-0'): 5, ('t', '0-1'): 3}
    """
    return dict(before) | {at: max(offset, before.get(at, offset)) for at, offset in told.items()}


def _decoded(data: bytes) -> dict[Partition, int]:
    try:
        return {(topic, number): offset for topic, number, offset in json.loads(data)}
    except TypeError as problem:
        raise ValueError(f"no offsets: {problem}") from None
