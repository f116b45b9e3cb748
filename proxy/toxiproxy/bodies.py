"""Reads bodies of requests as leniently as toxiproxy's own server does.

The first JSON value of a body counts. Names of fields are compared without case, unknown fields are ignored,
and `null` changes nothing. Errors do not have Go's words: clients look at the status and at whether there is
an `error`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

from barnabas.proxy.toxiproxy.errors import bad_body

Fields = Mapping[str, type]
"""The names of an object's fields, and the types of their values."""

_WORDS: Final = {
    str: "text",
    bool: "a boolean",
    int: "a whole number",
    float: "a number",
    dict: "an object",
}
_LARGEST: Final = 3.4028235e38
"""The largest 32-bit float, the type of toxicities in toxiproxy."""
_INT64: Final = range(-(1 << 63), 1 << 63)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


def read(body: bytes) -> Any:
    """Return the first JSON value of a body.

    >>> read(b' {"a": [1, null]} and so on')
    {'a': [1, None]}

    Raises:
        ApiError: There is none.
    """
    text = body.decode("utf-8", "replace").lstrip(" \t\r\n")
    try:
        return _plain(_DECODER.raw_decode(text)[0])
    except (ValueError, TypeError, RecursionError) as problem:
        raise bad_body(problem) from None


def _plain(value: Any) -> Any:
    """Return a value with replaced lone surrogates, which JSON can escape and UTF-8 lacks.

    Raises:
        ValueError, TypeError: The value cannot be written as JSON again.
    """
    text = json.dumps(value, ensure_ascii=False)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return orjson.loads(orjson.dumps(orjson.loads(text)))


def take(target: dict[str, Any], value: Any, fields: Fields, where: str) -> None:
    """Copy the fields of an object into `target`.

    Args:
        target: The values so far, by name.
        value: The object; None changes nothing.
        fields: The known fields.
        where: The object's name in errors.

    Raises:
        ApiError: The value is no object, or a field has another type.
    """
    if value is None:
        return
    if not isinstance(value, dict):
        raise bad_body(f"{where} must be an object")
    names = {name.casefold(): name for name in fields}
    for key, field_value in value.items():
        name = names.get(key.casefold())
        if name is None or field_value is None:
            continue
        if not _has_type(field_value, fields[name]):
            raise bad_body(f"{name} of {where} must be {_WORDS[fields[name]]}")
        target[name] = field_value


def _has_type(value: Any, expected: type) -> bool:
    if expected is float:
        return type(value) in (int, float) and abs(value) <= _LARGEST
    return type(value) is expected and (expected is not int or value in _INT64)
