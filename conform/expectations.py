"""Expected values of a response's fields, by path: `topics[0].partitions[0].error_code`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from barnabas.specs.error_codes import ERROR_CODES, error_name

_STEP: Final = re.compile(r"(\w+)|\[(\d+)\]")

CODES: Final = {error.name: error.code for error in ERROR_CODES}
"""Error codes by name."""


class Missing:
    """The value at a path that a response does not have."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = Missing()


class Expectation:
    """A condition on a value. `str` describes it in messages."""

    def holds(self, value: Any) -> bool:
        """Return whether a value meets the condition."""
        raise NotImplementedError


@dataclass(frozen=True)
class AtLeast(Expectation):
    """A number that is not below a limit."""

    least: float

    def holds(self, value: Any) -> bool:
        """Return whether a value meets the condition."""
        return isinstance(value, int | float) and value >= self.least

    def __str__(self) -> str:
        return f"at least {self.least}"


@dataclass(frozen=True)
class AtMost(Expectation):
    """A number that is not above a limit."""

    most: float

    def holds(self, value: Any) -> bool:
        """Return whether a value meets the condition."""
        return isinstance(value, int | float) and value <= self.most

    def __str__(self) -> str:
        return f"at most {self.most}"


class OneOf(Expectation):
    """Any of several values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def holds(self, value: Any) -> bool:
        """Return whether a value meets the condition."""
        return any(matches(expected, value) for expected in self.values)

    def __str__(self) -> str:
        return " or ".join(map(shown, self.values))


@dataclass(frozen=True)
class Not(Expectation):
    """Any other value."""

    value: Any

    def holds(self, value: Any) -> bool:
        """Return whether a value meets the condition."""
        return not isinstance(value, Missing) and not matches(self.value, value)

    def __str__(self) -> str:
        return f"not {shown(self.value)}"


def matches(expected: Any, value: Any) -> bool:
    """Return whether a value is as expected; a mapping need not name all fields.

    >>> matches({"port": AtLeast(1)}, {"host": "a", "port": 9092}), matches(None, MISSING)
    (True, False)
    """
    if isinstance(expected, Expectation):
        return expected.holds(value)
    if isinstance(expected, Mapping):
        return isinstance(value, Mapping) and all(
            matches(field, value.get(name, MISSING)) for name, field in expected.items()
        )
    return bool(type(expected) is type(value) and expected == value)


def value_at(body: Any, path: str) -> Any:
    """Return the value at a path, with error codes as names; MISSING if there is none.

    >>> value_at({"topics": [{"error_code": 3}]}, "topics[0].error_code")
    'UNKNOWN_TOPIC_OR_PARTITION'
    """
    value: Any = body
    step: str | int = ""
    for step in path_steps(path):
        try:
            value = value[step]
        except (LookupError, TypeError):
            return MISSING
    named = str(step).endswith("error_code") and isinstance(value, int)
    return error_name(value) if named else value


def path_steps(path: str) -> list[str | int]:
    """Split a path into names and indexes.

    >>> path_steps("topics[0].name")
    ['topics', 0, 'name']
    """
    return [name or int(index) for name, index in _STEP.findall(path)]


def shown(value: Any) -> str:
    """Format a value for a message: error names without quotes, long values shortened."""
    plain = isinstance(value, Expectation) or (isinstance(value, str) and value.isupper())
    text = str(value) if plain else repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
