"""Which fields of a body are to be read."""

from __future__ import annotations

from typing import Any

Wanted = dict[str, Any]
"""The fields to read: name -> Wanted for some of what is inside, or None for all of it."""


def prune(value: Any, wanted: Wanted | None) -> Any:
    """What of a value is to be read."""
    if wanted is None or value is None:
        return value
    if isinstance(value, list):
        return [prune(item, wanted) for item in value]
    return {n: prune(inner, wanted[n]) for n, inner in value.items() if n in wanted}


def wanted_tree(paths: tuple[str, ...]) -> Wanted:
    """The tree of some dotted paths.

    >>> wanted_tree(("topics.name", "topics.partitions", "acks"))
    {'topics': {'name': None, 'partitions': None}, 'acks': None}
    """
    tree: Wanted = {}
    for path in paths:
        *parents, leaf = path.split(".")
        at = tree
        for parent in parents:
            at = at.setdefault(parent, {})
        at[leaf] = None
    return tree
