"""Checks what readers of the JSON log select: an API, an error, a condition."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.expression import quote
from barnabas.captures.kafka.filters import exchange_filter
from barnabas.proxy.matching.notation import error_code
from barnabas.specs.error_codes import error_name
from barnabas.specs.registry import NAMES, key_of


def selection(api: str | None, error: str | None, condition: str | None) -> dict[str, Any]:
    """Return the selected values of columns, and the condition in JMESPath's own spelling.

    Raises:
        ValueError: No exchange can have such a value; the message names the nearest name.

    >>> selection("produce", "request_timed_out", "latency_ms > 5")
    {'api': 'Produce', 'error': 'REQUEST_TIMED_OUT', 'filter': 'latency_ms > `5`'}
    """
    selected: dict[str, Any] = {}
    if api is not None:
        try:
            selected["api"] = NAMES[key_of(api)]
        except LookupError as problem:
            raise ValueError(problem.args[0]) from None
    if error is not None:
        selected["error"] = error and error_name(error_code(error))
    if condition is not None:
        exchange_filter(condition)
        selected["filter"] = quote(condition)
    return selected
