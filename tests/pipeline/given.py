"""Rows of the table `exchanges` for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.types import VariantVal

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.pipeline.rows.bodies import Body, Names, body
from barnabas.pipeline.rows.exchanges import row
from barnabas.specs.registry import api
from tests.captures.kafka.context.exchanges import exchange
from tests.places import SAMPLES


def sample(name: str, *, strays: bool = False) -> Iterator[tuple[Exchange, Context]]:
    """The exchanges of a sample, each with what was learnt up to it."""
    context = Context()
    for found in Conversations(strays=strays).exchanges(CaptureReader(SAMPLES / name)):
        context.learn(found)
        yield found, context


def hot(found: Exchange, context: Context | None = None) -> dict[str, Any]:
    """The columns that have something to say, but for those of every exchange."""
    if context is not None:
        context.learn(found)
    common = frozenset(row(Exchange(0, 0, "", None, None, -1, 0, 0, 0), columns=COMMON))
    columns = row(found, context)
    return {name: value for name, value in columns.items() if name not in common and value}


COMMON = (
    *("ts", "ts_ns", "day", "connection", "client_address", "client_id", "broker", "api", "key"),
    *("version", "correlation_id", "request_size", "latency_ms", "named_broker", "end_ns"),
    *("request_packet", "response_packet", "server_address", "seen"),
)


def said(
    name: str, version: int, request: dict[str, Any], response: dict[str, Any] | None = None
) -> Exchange:
    """An exchange of these fields, as far as the version has them."""
    declared = api(name)
    asked = declared.request.layout(version).fitted(request)
    answer = None if response is None else declared.response.layout(version).fitted(response)
    return exchange(name, version, asked, answer)


def text(made: Body) -> str:
    """A body as JSON text, by somebody else's reading of VARIANT."""
    return VariantVal(made.value, made.metadata).toJson()


def body_text(exchange: Exchange, names: Names | None = None) -> str:
    """That of an exchange."""
    return text(body(exchange, names))
