"""The columns of an exchange: one list for the log, JSON, filters and tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from barnabas.specs.json_text import number

COLUMNS: Final = (
    ("ts", "when the request arrived: ISO 8601 in UTC, to the microsecond"),
    ("connection", "number of the client's connection"),
    ("client_address", "the client's ip:port"),
    ("client_id", "the client id in the request's header, or null"),
    (
        "user",
        "who was authenticated when the request came, or null: nobody, or nobody who could be told",
    ),
    (
        "broker",
        "node id of the broker; null while it is not known, and where a controller was asked",
    ),
    ("api", "name of the API, or `key N` if it is unknown"),
    ("key", "key of the API; -1 for a raw SASL token, -3 for a header that can't be read"),
    ("version", "version of the request"),
    ("correlation_id", "correlation id of the request"),
    (
        "request_size",
        "bytes of the request's frame without its size; of one that was cut off, those that came",
    ),
    ("response_size", "bytes of the response's frame without its size; null without one"),
    ("latency_ms", "from the request's arrival to the response's departure, as the client sees it"),
    (
        "broker_ms",
        "the broker alone: to the response's arrival, from the request's departure or, "
        "if that is later, the arrival of the response before it",
    ),
    ("error", "name of the first error in the response; empty: none; null: not known"),
    ("rules", "names of the rules that fired on either"),
    ("request", "decoded body of the request; null if it is not kept or can't be decoded"),
    ("response", "decoded body of the response; null if there is none or it can't be decoded"),
)
"""(name, what it is)."""

NUMBERS: Final = frozenset(
    {
        "connection",
        "broker",
        "key",
        "version",
        "correlation_id",
        "request_size",
        "response_size",
        "latency_ms",
        "broker_ms",
    }
)
"""Those that hold numbers; others hold text, lists and bodies."""


def iso(ts: int) -> str:
    """A time in ns since the epoch as ISO 8601 in UTC, to the microsecond.

    >>> iso(1_500_000_000_123_456_789)
    '2017-07-14T02:40:00.123456Z'
    """
    seconds, ns = divmod(ts, 1_000_000_000)
    return f"{_second(seconds)}.{ns // 1000:06}Z"


@lru_cache(64)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


def _rounded(duration: float | None) -> float | None:
    return None if duration is None else number(round(duration, 3))


FORMS: Final[dict[str, Callable[[Any], Any]]] = {
    "ts": iso,
    "latency_ms": _rounded,
    "broker_ms": _rounded,
    "rules": list,
}
"""What columns are made by in JSON, where they are no bodies."""
