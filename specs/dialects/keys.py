"""The keys of the APIs of dialects: numbers above all that a header can hold.

On the wire a dialect may give its APIs numbers that Kafka gave to others. Rules, logs, tables and checks use
the key of an API, so each dialect has its own range.
"""

from __future__ import annotations

import functools
from typing import Final

from barnabas.specs.dialects.dialect import Dialect, DialectApi
from barnabas.specs.dialects.registry import dialects
from barnabas.specs.error_codes import error_name

STEP: Final = 1 << 16
"""The size of a dialect's range. Keys below it are Kafka's: a header has an int16."""


def own_key(dialect: Dialect, api: DialectApi) -> int:
    """Return the key of a dialect's API."""
    return STEP * dialect.number + api.key


@functools.cache
def of_key(key: int) -> tuple[Dialect, DialectApi]:
    """Return the dialect and the API that a key belongs to. Raises LookupError."""
    number, wire = divmod(key, STEP)
    for each in dialects() if number else ():
        if each.number == number:
            return each, each.api(wire)
    raise LookupError(f"no API has key {key}")


def error_in(key: int, code: int) -> str:
    """Return the name of an error code in a response: of the dialect if it has the API, else of Kafka.

    >>> error_in(12, 25)
    'UNKNOWN_MEMBER_ID'
    """
    if key > STEP:
        own_names = {error.code: error.name for error in of_key(key)[0].errors}
        if code in own_names:
            return own_names[code]
    return error_name(code)


def error_in_header(key: int) -> bool:
    """Return whether responses of an API have their error in the header, as in Kafka 0.7."""
    return key > STEP and of_key(key)[0].error_in_header
