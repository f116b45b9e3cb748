"""From an exchange to a row of the table `exchanges`, and back.

Pure: no Spark. Columns that need no body cost none, and of a body only what a column asks for is read.
What can't be read is null; `undecodable` says why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from captures.context import Context
from captures.context.naming import group_of
from captures.context.reading import fields
from captures.errors import error_codes
from captures.exchange import SASL_TOKEN, Exchange, body_version
from captures.topics import topics_of
from pipeline.columns import EXCHANGES, Column, arrow
from pipeline.hot.contents import HOT, MADE
from pipeline.hot.topics import name_of
from specs.contents import NAMES
from specs.entities import entity_paths, named
from specs.keys import API_VERSIONS
from specs.malformed import Malformed

NO_RESPONSE: Final = "no response (acks=0)"

LATEST: Final = (1 << 63) - 1
"""The last ns that fits in a column, in 2262; what claims to be later is a broken clock's."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ALL: Final = tuple(column.name for column in EXCHANGES)

PLAIN: Final[dict[str, Callable[[Exchange], Any]]] = {
    "ts": lambda x: _time(x.ts),
    "ts_ns": lambda x: min(x.ts, LATEST),
    "day": lambda x: _time(x.ts).date(),
    "connection": lambda x: x.connection,
    "ordinal": lambda x: x.ordinal,
    "client_address": lambda x: x.client_address,
    "server_address": lambda x: x.server_address,
    "client_id": lambda x: x.client_id,
    "named_broker": lambda x: x.broker,
    "api": lambda x: x.api,
    "key": lambda x: x.key,
    "version": lambda x: x.version,
    "correlation_id": lambda x: x.correlation_id,
    "request_size": lambda x: x.request_size,
    "response_size": lambda x: x.response_size,
    "latency_ms": lambda x: x.latency_ms,
    "broker_ms": lambda x: x.broker_ms,
    "error": lambda x: x.error,
    "error_codes": lambda x: _error_codes(x),
    "rules": lambda x: list(x.rules),
    "note": lambda x: x.note,
    "request_packet": lambda x: x.request_packet,
    "response_packet": lambda x: x.response_packet,
    "undecodable": lambda x: _undecodable(x),
    "sasl": lambda x: x.sasl,
    "losses": lambda x: x.losses,
    "request_body": lambda x: x.request_body,
    "response_body": lambda x: x.response_body,
    "payload": lambda x: json.dumps(x.payload) if x.payload else "",
    "begun_ns": lambda x: x.begun,
    "request_place": lambda x: x.request_place,
    "response_place": lambda x: x.response_place,
}
"""Columns that an exchange has by itself."""

NAMED: Final = ("group", "transactional_id")
"""Columns that stand in requests under names that are found in the layouts."""

_ABOUT: Final = frozenset((*MADE, *NAMED))
_MADE: Final = frozenset((*MADE, "transactional_id"))
"""A transaction may be known by its producer id alone."""


def row(
    exchange: Exchange,
    context: Context | None = None,
    *,
    capture: str = "",
    software: str | None = None,
    end_ns: int | None = None,
    columns: Collection[str] = _ALL,
) -> dict[str, Any]:
    """The columns of an exchange, in the order asked for; also those of RAW, if they are asked for.

    context: what was learnt up to this exchange, itself included; without one, ids stay ids.
    software: see `software_of`. end_ns: when it was over; if it is not given, the moment of the
    response, or null. Never raises, whatever the bodies hold.

    >>> row(Exchange(1500, 1, "a:1", "me", 7, 3, 1, 5, 20), columns=("ts_ns", "api", "latency_ms"))
    {'ts_ns': 1500, 'api': 'Metadata', 'latency_ms': None}
    """
    about = {} if _ABOUT.isdisjoint(columns) else _about(exchange, context, columns)
    found: dict[str, Any] = {}
    for name in columns:
        plain = PLAIN.get(name)
        if plain is not None:
            found[name] = plain(exchange)
        elif name in _ABOUT:
            found[name] = about.get(name)
        elif name == "broker":
            found[name] = exchange.broker if context is None else context.brokers.node(exchange)
        elif name == "capture":
            found[name] = capture
        elif name == "software":
            found[name] = software
        else:
            found[name] = _end(exchange) if end_ns is None else end_ns
    return found


def batch(rows: Iterable[Mapping[str, Any]], columns: tuple[Column, ...]) -> pa.RecordBatch:
    """Rows as an Arrow batch with these columns; what a row lacks is null.

    >>> batch([{"ts_ns": 7}], EXCHANGES[1:2]).to_pylist()
    [{'ts_ns': 7}]
    """
    kept = list(rows)
    schema = arrow(columns)
    arrays = [pa.array([one.get(field.name) for one in kept], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def exchange(row: Mapping[str, Any]) -> Exchange:
    """The exchange that a row with the columns of RAW was made of.

    A row of a written table has no bytes: then `pipeline.bodies` makes them of `body`.
    """
    payload = row.get("payload")
    return Exchange(
        ts=row["ts_ns"],
        connection=row["connection"],
        client_address=row["client_address"],
        client_id=row["client_id"],
        broker=row["named_broker"],
        key=row["key"],
        version=row["version"],
        correlation_id=row["correlation_id"],
        request_size=row["request_size"],
        response_size=row["response_size"],
        latency_ms=row["latency_ms"],
        broker_ms=row["broker_ms"],
        rules=tuple(row["rules"]),
        request_body=row.get("request_body"),
        response_body=row.get("response_body"),
        note=row["note"],
        sasl=row["sasl"],
        payload=json.loads(payload) if payload else {},
        request_packet=row["request_packet"],
        response_packet=row["response_packet"],
        ordinal=row["ordinal"],
        server_address=row["server_address"],
        request_place=row.get("request_place", -1),
        response_place=row.get("response_place", -1),
        begun=row.get("begun_ns", 0),
        losses=row["losses"],
    )


def software_of(exchange: Exchange) -> str | None:
    """Name and version of the client, if this is an ApiVersions request that says them (v3, KIP-511).

    The column `software` has what the first such request of a connection says, from there on.
    """
    if exchange.key != API_VERSIONS:
        return None
    found = fields(exchange, "request", "client_software_name", "client_software_version")
    return " ".join(filter(None, (found or {}).values())) or None


def _about(exchange: Exchange, context: Context | None, columns: Collection[str]) -> dict[str, Any]:
    if exchange.key not in NAMES:
        return {}
    names = {} if context is None else context.topics
    found: dict[str, Any] = {}
    hot = HOT.get(exchange.key)
    if hot is not None and not _MADE.isdisjoint(columns):
        request = fields(exchange, "request", *hot.request) or {}
        response = (hot.response and fields(exchange, "response", *hot.response)) or {}
        found = hot.make(request, response, names)
    if "topics" in columns:
        topics = found.get("topics")
        if topics is None:
            topics = topics_of(exchange, names)
        if context is not None:
            topics = topics | _completed(exchange, context)
        found["topics"] = sorted(topics)
    if "partitions" in columns:
        found.setdefault("partitions", [])
    if "group" in columns:
        body = exchange.request_body
        found["group"] = (body and group_of(exchange.key, exchange.version, body)) or None
    if "transactional_id" in columns:
        transaction = _transaction(exchange)
        if transaction is None and context is not None and found.get("producer_id") is not None:
            transaction = context.producers.get(found["producer_id"])
        found["transactional_id"] = transaction
    found["member"] = found.get("member") or None
    return found


def _completed(exchange: Exchange, context: Context) -> set[str]:
    """Topics that the message does not name: those of its session, or of its member."""
    session = context.sessions.of(exchange)
    if session is not None:
        return {name_of(topic, context.topics) for topic in session.partitions}
    member = context.members.of(exchange)
    return set(member.subscribed or ()) if member is not None else set()


def _transaction(exchange: Exchange) -> str | None:
    key, version = exchange.key, exchange.version
    try:
        paths = entity_paths("transactional_id", key, "request", version)
    except LookupError:  # a version that nobody knows
        return None
    values = fields(exchange, "request", *map(".".join, paths)) if paths else None
    found = named("transactional_id", key, "request", version, values) if values else set()
    return (found.pop() or None) if len(found) == 1 else None


def _error_codes(exchange: Exchange) -> list[int] | None:
    if exchange.error is None:
        return None
    if not exchange.error or exchange.response_body is None:
        return []
    body = exchange.response_body
    version = body_version(exchange.key, exchange.version, "response", body)
    try:
        return sorted(error_codes(exchange.key, version, body) - {0})
    except (Malformed, LookupError):
        return None


def _undecodable(exchange: Exchange) -> str | None:
    if exchange.key == SASL_TOKEN or (exchange.request_body, exchange.response_body) == (
        None,
        None,
    ):
        return None
    return exchange.undecodable


def _time(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=min(ns, LATEST) // 1000)


def _end(exchange: Exchange) -> int | None:
    if exchange.latency_ms is not None:
        return exchange.ts + round(exchange.latency_ms * 1e6)
    return exchange.ts if exchange.note == NO_RESPONSE else None
