"""An exchange as one line of JSON: what `decode --json` prints, and every other file of such lines has."""

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
    """Its columns, what hides inside its bytes, and what it does not say itself. `context` has learnt it.

    values: how keys and values of its records are decoded, if they are to be shown.
    """
    more = {} if values is None else decoded_records(exchange, values, blob)
    try:
        return _line(exchange, context, blob, more, tags=False)
    except TypeError:
        # tagged fields that nobody knows: rare, and to look for them in each structure costs
        return _line(exchange, context, blob, more, tags=True)


def decoded_records(
    exchange: Exchange, values: Values, blob: Blob = base64_text
) -> dict[str, dict[str, Any]]:
    """Its records by direction and path, see `barnabas.captures.values.record_sets`."""
    bodies = ((one, getattr(exchange, one)) for one in DIRECTIONS if has_records(exchange.key, one))
    found = {one: decoded(body, values, blob) for one, body in bodies if body is not None}
    return {one: sets for one, sets in found.items() if sets}


def _line(
    exchange: Exchange, context: Context, blob: Blob, records: dict[str, Any], *, tags: bool
) -> str:
    row = exchange.row(blob=blob, tags=tags)
    if records:
        row["records"] = records
    if found := inside(exchange, context, blob):
        row["inside"] = found
    if found := facts(exchange, context):
        row["context"] = found
    return compact(row)
