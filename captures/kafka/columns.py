"""Define the columns of an exchange: one list for the log, JSON, filters and tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

from typing_extensions import TypedDict

from barnabas.specs.json_text import number


class Summary(TypedDict):
    """The columns of an exchange without bodies: name, JSON type, table type, and description."""

    ts: Annotated[str, "timestamp", "when the request arrived: ISO 8601 in UTC, to the microsecond"]
    connection: Annotated[int, "bigint", "number of the client's connection"]
    client_address: Annotated[str, "string", "the client's ip:port"]
    client_id: Annotated[str | None, "string", "the client id in the request's header, or null"]
    user: Annotated[
        str | None,
        "string",
        "the user authenticated when the request arrived; null: none, or not known",
    ]
    broker: Annotated[
        int | None,
        "int",
        "node id of the broker; null if not known yet, and for requests to a controller",
    ]
    api: Annotated[
        str,
        "string",
        "name of the API, `key N` if it is unknown, or `unreadable` if the header can't be read",
    ]
    key: Annotated[
        int,
        "int",
        "key of the API; -1 for a raw SASL token, -3 for a header that can't be read",
    ]
    version: Annotated[int, "int", "version of the request"]
    correlation_id: Annotated[int, "int", "correlation id of the request"]
    request_size: Annotated[
        int,
        "bigint",
        "bytes of the request's frame without its size; if it was cut off, the bytes that arrived",
    ]
    response_size: Annotated[
        int | None,
        "bigint",
        "bytes of the response's frame without its size; null without one",
    ]
    latency_ms: Annotated[
        float | None,
        "double",
        "from the request's arrival to the response's departure, as the client sees it",
    ]
    broker_ms: Annotated[
        float | None,
        "double",
        "the broker alone: to the response's arrival, from the request's departure or, "
        "if that is later, the arrival of the response before it",
    ]
    error: Annotated[
        str | None,
        "string",
        "name of the first error in the response; empty: none; null: not known",
    ]
    rules: Annotated[list[str], "array<string>", "names of the rules that fired on either"]


class Row(Summary):
    """All columns of an exchange. Tables hold each body as a VARIANT."""

    request: Annotated[
        Any, "variant", "decoded body of the request; null if it is not kept or can't be decoded"
    ]
    response: Annotated[
        Any,
        "variant",
        "decoded body of the response; null if there is none or it can't be decoded",
    ]


class LogColumn(NamedTuple):
    """A column of Row."""

    name: str
    type: str
    """The type in tables, in Spark's DDL."""
    description: str


COLUMNS: Final = tuple(
    LogColumn(name, *hint.__metadata__)
    for name, hint in get_type_hints(Row, include_extras=True).items()
)

SUMMARY: Final = tuple(Summary.__annotations__)
"""Names of the columns without bodies."""

NUMBERS: Final = frozenset(
    column.name for column in COLUMNS if column.type in ("int", "bigint", "double")
)
"""Names of the columns that hold numbers; the others hold text, lists and bodies."""


def iso(ts: int) -> str:
    """Format a time in ns since the epoch as ISO 8601 in UTC, to the microsecond.

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
"""The JSON conversion of each column whose value is not used as it is, except bodies."""
