"""Find the error codes of a response, wherever its layout has them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from barnabas.specs.codec.selection import Selection, selection_of
from barnabas.specs.registry import api


def first_error(key: int, version: int, body: bytes, decoded: dict[str, Any] | None = None) -> int:
    """Return the first error code other than 0 in a response's body; 0 if there is none.

    Only the error codes are decoded, unless `decoded` holds the body already.

    Args:
        key: The API.
        version: The version of the body's layout.
        body: The body.
        decoded: The decoded body, if there is one.

    Raises:
        Malformed: The body can't be decoded.
        LookupError: The API or version is unknown.
    """
    if decoded is None:
        return next(iter(codes_of(key, version, body)), 0)
    return next(iter(codes_in(decoded, key, version)), 0)


def error_codes(key: int, version: int, body: bytes) -> set[int]:
    """Return all error codes in a response's body, including 0.

    `version` is the version of its layout. Raises Malformed or LookupError.
    """
    return set(_codes(api(key).response.codec(version).project(*error_paths(key, version))(body)))


def codes_of(key: int, version: int, body: bytes) -> list[int]:
    """Return all error codes other than 0 in a response's body, in order. Only the codes are decoded.

    `version` is the version of its layout. Raises Malformed or LookupError.
    """
    values = api(key).response.codec(version).project(*error_paths(key, version))(body)
    return codes_in(values, key, version)


def codes_in(response: dict[str, Any], key: int, version: int) -> list[int]:
    """Return all error codes other than 0 in a decoded response, in order.

    >>> codes_in({"error_code": 5, "responses": [{"partitions": [{"error_code": 3}]}]}, 1, 7)
    [5, 3]
    """
    codes: list[int] = []
    _collect(response, _error_tree(key, version), codes.append)
    return codes


@functools.cache
def _error_tree(key: int, version: int) -> Selection:
    return selection_of(error_paths(key, version))


def _collect(struct: dict[str, Any], tree: Selection, add: Callable[[int], None]) -> None:
    for name, inside in tree.items():
        value = struct.get(name)
        if not value:
            continue
        if isinstance(value, int):
            add(value)
        elif inside is None:  # an array of codes
            for code in filter(None, value):
                add(code)
        elif isinstance(value, dict):
            _collect(value, inside, add)
        else:
            for item in value:
                if item is not None:
                    _collect(item, inside, add)


@functools.cache
def error_paths(key: int, version: int) -> tuple[str, ...]:
    """Return the dotted paths of all error codes in a version of a response.

    >>> error_paths(1, 7)
    ('error_code', 'responses.partitions.error_code')
    """
    return tuple(
        located.dotted
        for located in api(key).response.layout(version).walk()
        if located.slot.node.inner.kind == "int16" and located.slot.name.endswith("error_code")
    )


def _codes(value: Any) -> Iterator[int]:
    match value:
        case dict():
            for inner in value.values():
                yield from _codes(inner)
        case list():
            for inner in value:
                yield from _codes(inner)
        case int():
            yield value
