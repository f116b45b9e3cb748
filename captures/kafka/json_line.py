"""Format an exchange as one line of JSON, for `decode --json` and every other file of such lines."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.record_sets import decoded, has_records
from barnabas.captures.values.value import Values
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.json_text import compact
from barnabas.specs.jsonform import Blob, base64_text


def json_line(
    exchange: Exchange, context: Context, blob: Blob = base64_text, values: Values | None = None
) -> str:
    """Format an exchange: its columns, embedded messages, and facts that `context` has learned.

    Args:
        exchange: The exchange, from which the context has learned.
        context: Facts learned up to this exchange.
        blob: The form of bytes.
        values: Decodes keys and values of records; None: leave them out.
    """
    more = {} if values is None else decoded_records(exchange, values, blob)
    try:
        return _line(exchange, context, blob, more, tags=False)
    except TypeError:
        # unknown tagged fields are rare, and looking for them in each structure is slow
        return _line(exchange, context, blob, more, tags=True)


def decoded_records(
    exchange: Exchange, values: Values, blob: Blob = base64_text
) -> dict[str, dict[str, Any]]:
    """Return the records of an exchange by direction and path, see `captures.values.record_sets`."""
    bodies = (
        (direction, getattr(exchange, direction))
        for direction in DIRECTIONS
        if has_records(exchange.key, direction)
    )
    records = {
        direction: decoded(body, values, blob) for direction, body in bodies if body is not None
    }
    return {direction: sets for direction, sets in records.items() if sets}


def _line(
    exchange: Exchange, context: Context, blob: Blob, records: dict[str, Any], *, tags: bool
) -> str:
    row = exchange.row(blob=blob, tags=tags)
    if records:
        row["records"] = records
    if extra := inside(exchange, context, blob):
        row["inside"] = extra
    if extra := facts(exchange, context):
        row["context"] = extra
    return compact(row)
