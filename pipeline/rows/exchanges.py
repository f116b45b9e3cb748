"""Makes rows of the table `exchanges` from exchanges, and exchanges from rows.

Pure: no Spark. Columns without a body cost no decoding, and only the fields that a column needs are decoded.
Unreadable values are null; `undecodable` has the reason.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from operator import attrgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.errors import codes_in, codes_of
from barnabas.captures.kafka.exchange import SASL_TOKEN, UNSUPPORTED_VERSION, Exchange, body_version
from barnabas.captures.kafka.notes import INFERRED, UNANSWERED
from barnabas.pipeline.rows.body_columns.registry import MADE
from barnabas.pipeline.rows.body_values import body_values
from barnabas.pipeline.rows.columns import EXCHANGES, Column, arrow
from barnabas.pipeline.rows.seen import facts, seen
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

LATEST: Final = (1 << 63) - 1
"""The latest ns that fits in a column, in 2262; later times come from a broken clock."""

_DAY: Final = 86_400 * 10**9
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ALL: Final = tuple(column.name for column in EXCHANGES)

_SAME: Final = frozenset(
    (
        *("connection", "ordinal", "client_address", "server_address", "client_id"),
        *("key", "version", "correlation_id", "request_size", "response_size"),
        *("latency_ms", "broker_ms", "note", "request_packet", "response_packet"),
        *("sasl", "user", "losses", "request_body", "response_body"),
        *("request_place", "response_place"),
    )
)
"""Columns with the names and values of an exchange's attributes."""

ATTRIBUTES: Final[dict[str, Callable[[Exchange], Any]]] = {
    "ts": lambda x: _time(x.ts),
    "ts_ns": lambda x: min(x.ts, LATEST),
    "day": lambda x: _date(x.ts),
    **{name: attrgetter(name) for name in ("api", *_SAME)},
    "named_broker": attrgetter("broker"),
    "rules": lambda x: list(x.rules),
    "throttle_ms": lambda x: _throttle(x),
    "undecodable": lambda x: _undecodable(x),
    "payload": lambda x: json.dumps(x.payload) if x.payload else "",
    "begun_ns": attrgetter("begun"),
}
"""Columns that need only the exchange."""

NAMED: Final = ("group", "transactional_id")
"""Columns from fields of requests whose names are found in the layouts."""

ERRORS: Final = ("error", "error_codes")
"""Columns that are read together."""

LEARNT: Final[dict[str, Callable[[Exchange, Context | None], Any]]] = {
    "broker": lambda x, context: x.broker if context is None else context.brokers.node(x),
    "seen": lambda x, context: seen(x, context or Context()),
}
"""Columns that depend on earlier messages."""

_GIVEN: Final = ("capture", "software", "end_ns")
_FROM_BODIES: Final = frozenset((*MADE, *NAMED))
_MADE: Final = frozenset((*MADE, "transactional_id"))
"""The columns of MADE; a transaction may be known from its producer id alone."""


def row(
    exchange: Exchange,
    context: Context | None = None,
    *,
    capture: str = "",
    software: str | None = None,
    end_ns: int | None = None,
    columns: Collection[str] = _ALL,
) -> dict[str, Any]:
    """Return the columns of an exchange, in the requested order; those of RAW, too, if requested.

    `context` has what was learnt up to and including this exchange; without it, ids stay ids. `software`
    comes from the connection's first ApiVersions request. `end_ns` is the exchange's end; the default is the
    time of the response, or null. Never raises, whatever the bodies contain.

    >>> row(Exchange(1500, 1, "a:1", "me", 7, 3, 1, 5, 20), columns=("ts_ns", "api", "latency_ms"))
    {'ts_ns': 1500, 'api': 'Metadata', 'latency_ms': None}
    """
    plan = _plan(tuple(columns))
    values = plan.empty.copy()
    for name, of in plan.attributes:
        values[name] = of(exchange)
    if plan.errors:
        error, codes = _errors(exchange)
        for name in plan.errors:
            values[name] = error if name == "error" else codes
    if plan.from_bodies:
        from_bodies = body_values(
            exchange, context, plan.from_bodies, made=plan.made, whole=plan.whole
        )
        for name in plan.from_bodies:
            values[name] = from_bodies.get(name)
    for name in plan.learnt:
        values[name] = LEARNT[name](exchange, context)
    if plan.given:
        end_ns = _end(exchange) if end_ns is None else end_ns
        passed = {"capture": capture, "software": software, "end_ns": end_ns}
        for name in plan.given:
            values[name] = passed[name]
    return values


class _Plan(NamedTuple):
    """A plan for making rows with some columns; it is computed once for a set of columns."""

    empty: dict[str, Any]
    """The columns in order."""
    attributes: tuple[tuple[str, Callable[[Exchange], Any]], ...]
    """In the order of ATTRIBUTES: `undecodable`, which decodes whole bodies, precedes the columns that use
    them."""
    errors: tuple[str, ...]
    from_bodies: tuple[str, ...]
    learnt: tuple[str, ...]
    given: tuple[str, ...]
    """Columns whose values the caller passes."""
    made: bool
    """See body_values."""
    whole: bool
    """See body_values."""


@functools.lru_cache(64)
def _plan(columns: tuple[str, ...]) -> _Plan:
    order = sorted(columns, key=lambda name: name != "undecodable")
    return _Plan(
        dict.fromkeys(columns),
        tuple((name, ATTRIBUTES[name]) for name in order if name in ATTRIBUTES),
        tuple(name for name in columns if name in ERRORS),
        tuple(name for name in columns if name in _FROM_BODIES),
        tuple(name for name in columns if name in LEARNT),
        tuple(name for name in columns if name in _GIVEN),
        not _MADE.isdisjoint(columns),
        "undecodable" in columns,
    )


def batch(rows: Iterable[Mapping[str, Any]], columns: tuple[Column, ...]) -> pa.RecordBatch:
    """Return rows as an Arrow batch with these columns; missing values are null.

    >>> batch([{"ts_ns": 7}], EXCHANGES[1:2]).to_pylist()
    [{'ts_ns': 7}]
    """
    all_rows = list(rows)
    schema = arrow(columns)
    lists = ([row.get(name) for row in all_rows] for name in schema.names)
    arrays = [pa.array(each, kind) for each, kind in zip(lists, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def exchange(row: Mapping[str, Any]) -> Exchange:
    """Return the exchange of a row with the columns of RAW; missing columns have no value.

    From a row of a written table, which lacks RAW, the exchange has the facts of the bodies that checks use.
    """
    payload = row.get("payload")
    same = {name: value for name, value in row.items() if name in _SAME}
    same.setdefault("request_size", 0)
    result = Exchange(
        ts=row["ts_ns"],
        broker=row["named_broker"],
        rules=tuple(row["rules"]),
        payload=json.loads(payload) if payload else {},
        begun=row.get("begun_ns", 0),
        inferred=row["note"] == INFERRED,
        **same,
    )
    if "request_body" not in row:
        result.facts = facts(row["seen"])
        result.set_error(row["error"])
    return result


def _throttle(exchange: Exchange) -> int | None:
    """Return the throttle time in a response; None: it has none."""
    response = exchange.response or {}
    # librdkafka's mock puts an API where version 3 has the throttle time
    negotiates = exchange.key == API_VERSIONS and response.get("error_code") == UNSUPPORTED_VERSION
    return None if negotiates else response.get("throttle_time_ms")


def _errors(exchange: Exchange) -> tuple[str | None, list[int] | None]:
    """Return the values of ERRORS."""
    body = exchange.response_body
    if body is None or exchange.key not in NAMES:
        return None, None
    version = body_version(exchange.key, exchange.version, "response", body)
    try:
        response = exchange.response if exchange.decoded else None
        if response is None:
            codes = codes_of(exchange.key, version, body)
        else:
            codes = codes_in(response, exchange.key, version)
    except (Malformed, LookupError):
        return None, None
    return (error_name(codes[0]), sorted(set(codes))) if codes else ("", [])


def _undecodable(exchange: Exchange) -> str | None:
    if exchange.key == SASL_TOKEN or (exchange.request_body, exchange.response_body) == (
        None,
        None,
    ):
        return None
    return exchange.undecodable


@functools.lru_cache(64)
def _day(days: int) -> date:
    return (_EPOCH + timedelta(days)).date()


def _time(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=min(ns, LATEST) // 1000)


def _end(exchange: Exchange) -> int | None:
    if exchange.latency_ms is not None:
        return exchange.ts + round(exchange.latency_ms * 1e6)
    return exchange.ts if exchange.note == UNANSWERED else None


def _date(ns: int) -> date:
    return _day(min(ns, LATEST) // _DAY)
