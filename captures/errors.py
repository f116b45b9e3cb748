"""The error codes of a response, wherever they stand in it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from specs.contents import api
from specs.layout import Layout


def first_error(key: int, version: int, body: bytes) -> int:
    """The first error code other than 0 in a response's body; 0 if all is well.

    `version` is that of the body's layout. Only the error codes are read.
    Raises Malformed, or LookupError for an unknown API or version.
    """
    return next((code for code in _error_codes(key, version, body) if code), 0)


def error_codes(key: int, version: int, body: bytes) -> set[int]:
    """All error codes in a response's body; `version` is that of its layout.

    Raises Malformed or LookupError.
    """
    return set(_error_codes(key, version, body))


def _error_codes(key: int, version: int, body: bytes) -> Iterator[int]:
    paths = error_paths(key, version)
    return _codes(api(key).response.codec(version).project(*paths)(body))


@functools.cache
def error_paths(key: int, version: int) -> tuple[str, ...]:
    """The dotted paths of all error codes in a version of a response.

    >>> error_paths(1, 7)
    ('error_code', 'responses.partitions.error_code')
    """
    return tuple(_error_paths(api(key).response.layout(version), ""))


def _error_paths(layout: Layout, prefix: str) -> Iterator[str]:
    for slot in layout.slots:
        inner = slot.node.element or slot.node
        if inner.struct is not None:
            yield from _error_paths(inner.struct, f"{prefix}{slot.name}.")
        elif inner.kind == "int16" and slot.name.endswith("error_code"):
            yield prefix + slot.name


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
