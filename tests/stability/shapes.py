"""The shape of JSON values: names and types, with no data in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, Final

MAPS: Final = frozenset(
    ("api", "client", "connection", "broker", "topic", "topics", "errors", "versions", "found")
)
"""Objects by these names have data as their keys: names of APIs, clients, errors."""

BODIES: Final = frozenset(("request", "response", "inside"))
"""Beside `api` objects by these names are Kafka's messages, which Kafka's protocol defines."""

_TYPES: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def shape(value: Any, name: str = "") -> Any:
    """What a value looks like.

    >>> shape({"ts": "2026", "errors": {"NONE": 1}, "rows": [{"a": 1}, {"a": None, "b": 2.5}]})
    {'ts': 'string', 'errors': {'*': 'integer'}, 'rows': [{'a': 'integer | null', 'b': 'number'}]}
    """
    match value:
        case dict() if name in MAPS:
            return {"*": shapes(value.values())}
        case dict():
            return {
                key: "object"
                if key in BODIES and "api" in value and isinstance(inner, dict)
                else shape(inner, key)
                for key, inner in value.items()
            }
        case list():
            return [shapes(value)]
    return _TYPES[type(value)]


def shapes(values: Iterable[Any]) -> Any:
    """What all of them look like, as one."""
    return reduce(_merged, map(shape, values), None)


def _merged(one: Any, other: Any) -> Any:
    if one is None or one == other:
        return other
    if other is None:
        return one
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _merged(one.get(key), other.get(key)) for key in one | other}
    if isinstance(one, list) and isinstance(other, list):
        return [_merged(one[0], other[0])]
    return " | ".join(sorted({*_names(one), *_names(other)}))


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split(" | ")
    return ["object" if isinstance(value, dict) else "list"]
