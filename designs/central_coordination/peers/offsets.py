"""Offsets of groups in the registry: an entry for each group, as JSON, for coordinators and consumers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from barnabas.designs.brokers.registry.interface import ABSENT, Registry
from barnabas.designs.brokers.registry.paths import below
from barnabas.designs.central_coordination.peers.interest import Partition


def path_of(group: str) -> str:
    """Return the path of a group's offsets; 0.7 uses the same folder.

    >>> path_of("a/b")
    '/consumers/a%2Fb'
    """
    return below("/consumers", group)


def load(registry: Registry, group: str) -> dict[Partition, int]:
    """Return all offsets of a group. Raises ValueError for an invalid entry."""
    entry = registry.read(path_of(group))
    return {} if entry is None else _decoded(entry.data)


def store(registry: Registry, group: str, offsets: Mapping[Partition, int]) -> None:
    """Store some of a group's offsets, and keep the others. Raises ValueError as `load` does.

    No offset goes back. A consumer that resumes after a long pause reports its position, and nothing in its
    response shows that others have owned the partition since: there are no generations.
    """
    while True:
        entry = registry.read(path_of(group))
        before = {} if entry is None else _decoded(entry.data)
        rows = [[*at, offset] for at, offset in farthest(before, offsets).items()]
        version = ABSENT if entry is None else entry.version
        if registry.write(path_of(group), json.dumps(rows).encode(), version):
            return


def farthest(
    before: Mapping[Partition, int], reported: Mapping[Partition, int]
) -> dict[Partition, int]:
    """Return the larger offset of each partition.

    >>> farthest({("t", "0-0"): 5}, {("t", "0-0"): 3, ("t", "0-1"): 3})
    {('t', '0-0'): 5, ('t', '0-1'): 3}
    """
    return dict(before) | {
        at: max(offset, before.get(at, offset)) for at, offset in reported.items()
    }


def _decoded(data: bytes) -> dict[Partition, int]:
    try:
        return {(topic, number): offset for topic, number, offset in json.loads(data)}
    except TypeError as problem:
        raise ValueError(f"no offsets: {problem}") from None
