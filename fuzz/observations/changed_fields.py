"""Which fields a case changed: what tells bugs apart that leave no trace of their own."""

from __future__ import annotations

from barnabas.fuzz.cases.case import Case
from barnabas.specs.registry import NAMES


def changed(case: Case) -> tuple[str, ...]:
    """The mutator and the name of the field that it was put to, without what that stands in; of the last
    change, since of two the first is often no matter."""
    return tuple(f"{one.mutator} {_last(one.path)}" for one in case.recipe.changes[-1:])


def api_and_change(case: Case) -> tuple[str, ...]:
    """The API, and what was changed: where a client is then says little of what it read."""
    return (NAMES.get(case.recipe.seed.key, "an unknown API"), *changed(case))


def about(case: Case) -> tuple[str, ...]:
    """The API, and the field that the last change was put to, whichever way it was changed."""
    seed, changes = case.recipe.seed, case.recipe.changes
    return (NAMES.get(seed.key, "an unknown API"), *(_last(one.path) for one in changes[-1:]))


def _last(path: str) -> str:
    """The last name of a path and what it is part of, if that is no name of a message's own.

    >>> _last("topics[0].partitions[1]._tags.count"), _last("topics[0].name"), _last("")
    ('_tags.count', 'name', 'frame')
    """
    names = [piece.partition("[")[0] for piece in path.split(".")]
    if len(names) > 1 and names[-1] in ("count", "length", "size", "crc"):
        return ".".join(names[-2:])
    return names[-1] or "frame"
