"""How a scenario writes APIs, versions, partitions, errors and acks: parsers and JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, StrictInt, StrictStr, WithJsonSchema
from pydantic_core.core_schema import ValidationInfo

from barnabas.nearest import did_you_mean
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Size
from barnabas.specs import NAMES, key_of
from barnabas.specs.dialects.dialect import Dialect
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.registry import key_in

Versions = tuple[int, int]
"""A range of versions, both ends included."""
Partitions = tuple[int, int]
"""A range of partitions, both ends included."""

NEWEST: Final = 32767
"""The largest possible version."""
LAST: Final = (1 << 31) - 1
"""The largest possible partition."""
_LARGEST: Final = 1 << 32
_ERRORS: Final = {error.name: error.code for error in ERROR_CODES}
_RANGE: Final = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10})|(\+))?")


def listed(value: Any) -> Any:
    """Return a single value as a tuple; None and collections stay unchanged."""
    return value if value is None or isinstance(value, tuple | list | frozenset) else (value,)


def api_key(value: Any, dialect: Dialect | None = None) -> int:
    """Return an API's key by its key or name; names of the dialect, if one is given, come first.

    Raises:
        ValueError: The API is unknown; the message names the nearest one.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"expected the name or key of an API, not {value!r}")
    try:
        if dialect is not None:
            return key_in(dialect, value)
        return key_of(value)
    except LookupError as error:
        raise ValueError(str(error)) from None


def version_range(value: Any) -> Versions | None:
    """Return the range of a version expression (`11`, `3-9`, `12+`).

    Raises:
        ValueError: The expression is invalid.
    """
    return None if value is None else _range(value, "version", NEWEST)


def partition_range(value: Any) -> Partitions:
    """Return the range of a partition expression.

    Raises:
        ValueError: The expression is invalid.

    >>> partition_range(3), partition_range("0-2"), partition_range("12+")
    ((3, 3), (0, 2), (12, 2147483647))
    """
    return _range(value, "partition", LAST)


def _range(value: Any, noun: str, last: int) -> tuple[int, int]:
    parts = _RANGE.fullmatch(str(value)) if type(value) in (int, str) else None
    if parts is None:
        raise ValueError(f"{value!r} is not a {noun}: write 11, 3-9 or 12+")
    low = int(parts[1])
    high = last if parts[3] else int(parts[2] or low)
    if low > high:
        raise ValueError(f"{value!r} is a range whose end is before its start")
    if high > last:
        raise ValueError(f"{value!r}: the last {noun} is {last}")
    return low, high


def range_text(low: int, high: int, last: int) -> str:
    """Return the expression of a range; `last` is the largest possible value."""
    return f"{low}" if low == high else f"{low}+" if high == last else f"{low}-{high}"


def error_code(value: Any, dialect: Dialect | None = None) -> int:
    """Return an error's code by its name or code; names of the dialect, if one is given, come first.

    Raises:
        ValueError: The error is unknown.
    """
    dialect_codes = (
        {} if dialect is None else {error.name.upper(): error.code for error in dialect.errors}
    )
    if isinstance(value, str) and value.upper() in dialect_codes:
        return dialect_codes[value.upper()]
    if isinstance(value, str):
        if value.upper() not in _ERRORS:
            hint = did_you_mean(value, (*dialect_codes, *_ERRORS))
            raise ValueError(f"unknown Kafka error code {value!r}{hint}")
        return _ERRORS[value.upper()]
    if isinstance(value, bool) or not isinstance(value, int) or not -32768 <= value <= 32767:
        raise ValueError(
            f"unknown Kafka error code {value!r}: give a name or code, see `barnabas spec errors`"
        )
    return value


def _spoken_key(value: Any, info: ValidationInfo) -> int:
    return api_key(value, (info.context or {}).get("dialect"))


def _spoken_error(value: Any, info: ValidationInfo) -> int:
    return error_code(value, (info.context or {}).get("dialect"))


def _acks(value: Any) -> int:
    if value == "all":
        return -1
    if isinstance(value, bool) or value not in (-1, 0, 1):
        raise ValueError(f"{value!r} is not a value of acks: use 0, 1 or all")
    return int(value)


def one_or_more(item: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one such item, or a list of them."""
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def api_schema(further: Iterable[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of an API: its key, or its name as Kafka writes it or in lower case.

    Args:
        further: The names of dialects' APIs. The schema cannot express which dialect has which API, so it
            allows all.
    """
    names = dict.fromkeys((*NAMES.values(), *further))
    integer = {"type": "integer", "minimum": 0, "maximum": max(NAMES)}
    return {"anyOf": [{"enum": [*names, *(name.lower() for name in names)]}, integer]}


VERSION_SCHEMA: Final = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": NEWEST},
        {"type": "string", "pattern": r"^[0-9]+(-[0-9]+|\+)?$"},
    ]
}
"""The JSON Schema of a version or a range of versions."""
PARTITION_SCHEMA: Final = {
    "anyOf": [{"type": "integer", "minimum": 0, "maximum": LAST}, VERSION_SCHEMA["anyOf"][1]]
}
"""The JSON Schema of a partition or a range of partitions."""
ERROR_SCHEMA: Final = {"type": ["string", "integer"], "examples": list(_ERRORS)}
"""The JSON Schema of an error: a dialect has other names, so these are only examples."""
_Several = Field(strict=False, min_length=1)

Globs = Annotated[
    Annotated[tuple[StrictStr, ...], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more({"type": "string"})),
]
"""One glob or several."""
ApiKeys = Annotated[
    Annotated[frozenset[Annotated[int, BeforeValidator(_spoken_key)]], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more(api_schema())),
]
"""Names or keys of APIs, stored as keys."""
VersionRange = Annotated[
    Versions | None, BeforeValidator(version_range), WithJsonSchema(VERSION_SCHEMA)
]
"""A version or a range of versions."""
Integers = Annotated[
    Annotated[frozenset[StrictInt], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more({"type": "integer"})),
]
"""One number or several."""
PartitionRanges = Annotated[
    Annotated[tuple[Annotated[Partitions, BeforeValidator(partition_range)], ...], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more(PARTITION_SCHEMA)),
]
"""Partitions or ranges of partitions."""
ErrorCodes = Annotated[
    Annotated[frozenset[Annotated[int, BeforeValidator(_spoken_error)]], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more(ERROR_SCHEMA)),
]
"""Names or codes of errors, stored as codes."""
Acks = Annotated[
    Annotated[frozenset[Annotated[int, BeforeValidator(_acks)]], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more({"enum": [-1, 0, 1, "all"]})),
]
"""The acks of Produce requests: 0, 1 or all."""


class SizeRange(Settings):
    """A range of sizes, both ends included."""

    at_least: Size = 0
    """The smallest size."""
    at_most: Size | None = None
    """The largest size."""

    def contains(self, size: int) -> bool:
        """Return whether a size in bytes is in the range."""
        return size >= self.at_least and (self.at_most is None or size <= self.at_most)

    @property
    def frames(self) -> range:
        """Return the range for sizes of frames without their size field.

        >>> SizeRange.model_validate({"at_most": "10B"}).frames
        range(0, 7)
        """
        most = _LARGEST if self.at_most is None else self.at_most
        return range(max(self.at_least - 4, 0), max(most - 3, 0))

    def describe(self) -> str:
        """Return the range as text."""
        end = "" if self.at_most is None else f" to {self.at_most}"
        return f"of {self.at_least}{end} bytes"
