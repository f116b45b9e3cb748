"""How a scenario writes APIs, versions, partitions, errors and acks: read, and as JSON Schema."""

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
"""The last version that there can be."""
LAST: Final = (1 << 31) - 1
"""The last partition that there can be."""
_LARGEST: Final = 1 << 32
_ERRORS: Final = {error.name: error.code for error in ERROR_CODES}
_RANGE: Final = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10})|(\+))?")


def listed(value: Any) -> Any:
    """A single value as a list of one; None and collections as they are."""
    return value if value is None or isinstance(value, tuple | list | frozenset) else (value,)


def api_key(value: Any, dialect: Dialect | None = None) -> int:
    """The key of an API by its key or name, as a dialect has it first, if one is spoken.

    Raises ValueError with the nearest name.
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
    """A range of versions as people write it (`11`, `3-9`, `12+`). Raises ValueError."""
    return None if value is None else _range(value, "version", NEWEST)


def partition_range(value: Any) -> Partitions:
    """A range of partitions as people write it. Raises ValueError.

    >>> partition_range(3), partition_range("0-2"), partition_range("12+")
    ((3, 3), (0, 2), (12, 2147483647))
    """
    return _range(value, "partition", LAST)


def _range(value: Any, what: str, last: int) -> tuple[int, int]:
    parts = _RANGE.fullmatch(str(value)) if type(value) in (int, str) else None
    if parts is None:
        raise ValueError(f"{value!r} is no {what}; write 11, 3-9 or 12+")
    low = int(parts[1])
    high = last if parts[3] else int(parts[2] or low)
    if low > high:
        raise ValueError(f"{value!r} is a range whose end is before its start")
    if high > last:
        raise ValueError(f"{value!r}: the last {what} is {last}")
    return low, high


def range_text(low: int, high: int, last: int) -> str:
    """A range as people write it."""
    return f"{low}" if low == high else f"{low}+" if high == last else f"{low}-{high}"


def error_code(value: Any, dialect: Dialect | None = None) -> int:
    """The code of an error by its name or code, as a dialect has it first, if one is spoken.

    Raises ValueError.
    """
    own = {} if dialect is None else {error.name.upper(): error.code for error in dialect.errors}
    if isinstance(value, str) and value.upper() in own:
        return own[value.upper()]
    if isinstance(value, str):
        if value.upper() not in _ERRORS:
            hint = did_you_mean(value, (*own, *_ERRORS))
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
        raise ValueError(f"{value!r} is no value of acks: give 0, 1 or all")
    return int(value)


def one_or_more(item: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of one such item, or a list of them."""
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def api_schema(further: Iterable[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of an API: its key, or its name as Kafka writes it or in small letters.

    further: names of APIs of dialects. The schema can't say which dialect has which, so it takes all.
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
"""A version or a range of them in JSON Schema."""
PARTITION_SCHEMA: Final = {
    "anyOf": [{"type": "integer", "minimum": 0, "maximum": LAST}, VERSION_SCHEMA["anyOf"][1]]
}
"""A partition or a range of them in JSON Schema."""
ERROR_SCHEMA: Final = {"type": ["string", "integer"], "examples": list(_ERRORS)}
"""An error in JSON Schema: a dialect has names of its own, so these are examples."""
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
"""Names or keys of APIs, as keys."""
VersionRange = Annotated[
    Versions | None, BeforeValidator(version_range), WithJsonSchema(VERSION_SCHEMA)
]
"""A version or a range of them."""
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
"""Partitions, or ranges of them."""
ErrorCodes = Annotated[
    Annotated[frozenset[Annotated[int, BeforeValidator(_spoken_error)]], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more(ERROR_SCHEMA)),
]
"""Names or codes of errors, as codes."""
Acks = Annotated[
    Annotated[frozenset[Annotated[int, BeforeValidator(_acks)]], _Several] | None,
    BeforeValidator(listed),
    WithJsonSchema(one_or_more({"enum": [-1, 0, 1, "all"]})),
]
"""What Produce requests wait for: 0, 1 or all."""


class SizeRange(Settings):
    """Sizes, both ends included."""

    at_least: Size = 0
    """No smaller."""
    at_most: Size | None = None
    """No larger."""

    def contains(self, size: int) -> bool:
        """Whether a size in bytes is one of them."""
        return size >= self.at_least and (self.at_most is None or size <= self.at_most)

    @property
    def frames(self) -> range:
        """The same as sizes of frames without their size field.

        >>> SizeRange.model_validate({"at_most": "10B"}).frames
        range(0, 7)
        """
        most = _LARGEST if self.at_most is None else self.at_most
        return range(max(self.at_least - 4, 0), max(most - 3, 0))

    def describe(self) -> str:
        """In words."""
        end = "" if self.at_most is None else f" to {self.at_most}"
        return f"of {self.at_least}{end} bytes"
