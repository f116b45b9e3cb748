"""An exchange as one line of JSON: what `decode --json` prints, and every other file of such lines has."""

from __future__ import annotations

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.json_text import compact
from barnabas.specs.jsonform import Blob, base64_text


def json_line(exchange: Exchange, context: Context, blob: Blob = base64_text) -> str:
    """Its columns, what hides inside its bytes, and what it does not say itself. `context` has learnt it."""
    try:
        return _line(exchange, context, blob, tags=False)
    except TypeError:
        # tagged fields that nobody knows: rare, and to look for them in each structure costs
        return _line(exchange, context, blob, tags=True)


def _line(exchange: Exchange, context: Context, blob: Blob, *, tags: bool) -> str:
    row = exchange.row(blob=blob, tags=tags)
    if found := inside(exchange, context, blob):
        row["inside"] = found
    if found := facts(exchange, context):
        row["context"] = found
    return compact(row)
