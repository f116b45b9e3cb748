"""Durations and sizes as text with units.

A number without a unit is refused: the proxy must not guess whether `delay: 200` means ms or s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, WithJsonSchema

from barnabas.nearest import did_you_mean

TIMES: Final = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
"""Units of time, in ns."""

SIZES: Final = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
"""Units of size, in bytes."""

LONGEST: Final = 24 * TIMES["h"]
"""The longest valid duration; a longer one is taken for a mistake."""

_QUANTITY: Final = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)[ ]?([A-Za-zµ]{0,20})")


def parse_duration(text: Any) -> int:
    """Return a duration in ns.

    Raises:
        ValueError: The text is not a valid duration; the message lists the units.

    >>> parse_duration("200ms"), parse_duration("1.5 s"), parse_duration("250us")
    (200000000, 1500000000, 250000)
    """
    ns = _quantity(text, TIMES, "duration", "5s")
    if ns > LONGEST:
        raise ValueError(f"{text!r} is longer than 24h")
    return ns


def parse_size(text: Any) -> int:
    """Return a size in bytes.

    Raises:
        ValueError: The text is not a valid size; the message lists the units.

    >>> parse_size("1GiB"), parse_size("64KiB"), parse_size("100MB")
    (1073741824, 65536, 100000000)
    """
    return _quantity(text, SIZES, "size", "64KiB")


def _quantity(text: Any, units: Mapping[str, int], noun: str, example: str) -> int:
    listed = ", ".join(units)
    if isinstance(text, int | float) and not isinstance(text, bool):
        raise ValueError(f"{text} needs a unit: {listed}")
    parts = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if parts is None:
        raise ValueError(f"{text!r} is not a {noun} such as {example}; the units are {listed}")
    number, unit = parts.groups()
    if not unit:
        raise ValueError(f"{text} needs a unit: {listed}")
    unit = unit.replace("µ", "u")
    if unit not in units:
        hint = did_you_mean(unit, units) or ";"
        raise ValueError(f"unknown unit {unit!r} in {text!r}{hint} the units are {listed}")
    amount = Fraction(number) * units[unit]
    if amount.denominator != 1:
        raise ValueError(f"{text!r} is not a whole number of {next(iter(units))}")
    return amount.numerator


def duration_text(ns: int) -> str:
    """Return a duration as a scenario writes it, exact.

    >>> duration_text(30_000_000_000), duration_text(1_500_000_000)
    ('30s', '1500ms')
    """
    unit = next(unit for unit in ("s", "ms", "us", "ns") if ns % TIMES[unit] == 0)
    return f"{ns // TIMES[unit]}{unit}"


def show_duration(ns: int) -> str:
    """Return a duration for people, in about three digits.

    >>> show_duration(213_456_789), show_duration(5_000_000_000), show_duration(1_234)
    ('213 ms', '5 s', '1.23 us')
    """
    unit = next((unit for unit in ("s", "ms", "us") if ns >= TIMES[unit]), "ns")
    amount = ns / TIMES[unit]
    text = f"{amount:.{0 if amount >= 100 else 1 if amount >= 10 else 2}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def _default_with_unit(schema: dict[str, Any]) -> None:
    if "default" in schema:
        schema["default"] = duration_text(schema["default"])


Duration = Annotated[
    int,
    BeforeValidator(parse_duration),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^[0-9]+(\.[0-9]+)? ?(ns|us|µs|ms|s|m|h)$",
            "examples": ["200ms"],
        }
    ),
    Field(json_schema_extra=_default_with_unit),
]
"""A duration in ns, written with a unit."""

Size = Annotated[
    int,
    BeforeValidator(parse_size),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": rf"^[0-9]+(\.[0-9]+)? ?({'|'.join(SIZES)})$",
            "examples": ["1KiB"],
        },
    ),
]
"""A size in bytes, written with a unit."""
