"""What a change of a recorded schema means to those who rely on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

DEMANDS: Final = "required"
"""Below this name an entry more is what breaks others, unless its object is new, and one less is not."""


class Changes(NamedTuple):
    """Lines, one a change."""

    breaking: tuple[str, ...]
    additive: tuple[str, ...]


def compare(recorded: Any, current: Any) -> Changes:
    """Compare two documents of JSON. Lists are sets: each entry is there or not.

    >>> recorded = {"code": 1, "names": ["a", "b"], "rule": {"required": ["do"]}}
    >>> compare(recorded, {**recorded, "names": ["b", "a"]})
    Changes(breaking=(), additive=())
    >>> compare(recorded, {"code": 2, "names": ["a"], "rule": {"required": ["do", "name"]}}).breaking
    ('changed: code from 1 to 2', 'gone: names.b (an entry)', 'new: rule.required.name (an entry)')
    >>> compare(recorded, {**recorded, "more": 1, "rule": {"required": []}})
    Changes(breaking=(), additive=('gone: rule.required.do (an entry)', 'new: more (1)'))
    >>> compare(recorded, {**recorded, "more": {"required": ["name"]}}).breaking
    ()
    >>> compare(recorded, {**recorded, "parameter": {"required": True}}).breaking
    ('new: parameter.required (True)',)
    >>> compare(recorded, {**recorded, "names": {"a": 1}}).breaking[0]
    'changed: names from list to object'
    """
    before, now = dict(_flat(recorded)), dict(_flat(current))
    breaking: list[str] = []
    additive: list[str] = []
    for path, value in before.items():
        if path not in now:
            (additive if DEMANDS in path else breaking).append(f"gone: {_text(path)} ({value})")
        elif now[path] != value:
            breaking.append(f"changed: {_text(path)} from {value} to {now[path]}")
    for path in now.keys() - before.keys():
        # a new object may demand fields of its own (a list); a new parameter may be demanded (True)
        demands = DEMANDS in path and (now[path] is True or path[: path.index(DEMANDS)] in before)
        (breaking if demands else additive).append(f"new: {_text(path)} ({now[path]})")
    return Changes(tuple(breaking), tuple(sorted(additive)))


def _flat(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    match value:
        case dict():
            yield path, "object"
            for name, inner in value.items():
                yield from _flat(inner, (*path, str(name)))
        case list():
            yield path, "list"
            seen: Counter[str] = Counter()
            for inner in value:
                name = _name(inner)
                seen[name] += 1
                if isinstance(inner, dict | list):
                    yield from _flat(inner, (*path, f"{name}{seen[name]}"))
                else:
                    yield (*path, name), "an entry"
        case _:
            yield path, value


def _name(entry: Any) -> str:
    """Of an entry of a list: where the others stand must not matter."""
    if not isinstance(entry, dict):
        return "list" if isinstance(entry, list) else str(entry)
    found = entry.get("$ref", entry.get("type"))
    return found if isinstance(found, str) else "object"


def _text(path: tuple[str, ...]) -> str:
    return ".".join(path) or "the whole"
