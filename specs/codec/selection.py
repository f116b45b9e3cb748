"""The fields of a body to read."""

from __future__ import annotations

from typing import Any

Selection = dict[str, Any]
"""The fields to read: name -> Selection for some of the inner fields, or None for all of them."""


def prune(value: Any, selected: Selection | None) -> Any:
    """Return the selected part of a value."""
    if selected is None or value is None:
        return value
    if isinstance(value, list):
        return [prune(item, selected) for item in value]
    return {n: prune(inner, selected[n]) for n, inner in value.items() if n in selected}


def selection_of(paths: tuple[str, ...]) -> Selection:
    """Return the selection of some dotted paths.

    >>> selection_of(("topics.name", "topics.partitions", "acks"))
    {'topics': {'name': None, 'partitions': None}, 'acks': None}
    """
    tree: Selection = {}
    for path in paths:
        *parents, leaf = path.split(".")
        at = tree
        for parent in parents:
            at = at.setdefault(parent, {})
        at[leaf] = None
    return tree
