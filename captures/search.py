"""Search exchanges for a pattern: in names, ids, errors, and in keys and values of records."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.embedded import revealed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.unpacked_records import unpacked
from barnabas.captures.values.value import Values
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.secrets import redact

_COLUMNS: Final = ("client_id", "client_address", "api", "error", "note", "sasl", "rules")


class Match(NamedTuple):
    """A match of the pattern: the path of the field, and its whole text."""

    path: str
    text: str


def search(
    exchange: Exchange, context: Context, pattern: re.Pattern[str], values: Values | None = None
) -> Iterator[Match]:
    r"""Yield the fields of an exchange that match a pattern, including messages embedded in bytes fields.

    Bytes are searched as UTF-8, numbers as decimal text. Secret fields are not searched.

    Args:
        exchange: The exchange to search.
        context: Facts learned up to this exchange.
        pattern: A compiled regular expression.
        values: Decodes keys and values of records that a schema describes; None: search their bytes.

    >>> match = Exchange(0, 1, "", "me", None, 3, 0, 0, 12, request_body=b"\0\0\0\1\0\1t")
    >>> list(search(match, Context(), re.compile("^t$")))
    [Match(path='request.topics[0].name', text='t')]
    """
    columns: dict[str, Any] = {name: getattr(exchange, name) for name in _COLUMNS}
    if exchange.request is not None:
        columns["request"] = unpacked(redact(exchange.key, "request", exchange.request), values)
    if exchange.response is not None:
        columns["response"] = unpacked(redact(exchange.key, "response", exchange.response), values)
    columns["inside"] = revealed(exchange, context)
    for path, text in _texts(columns, ""):
        if pattern.search(text):
            yield Match(path, text)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _texts(inner, f"{path}.{name}" if path else str(name))
        case list() | tuple():
            for index, inner in enumerate(value):
                yield from _texts(inner, f"{path}[{index}]")
        case bytes() | memoryview():
            yield path, bytes(value).decode(errors="replace")
        case uuid.UUID():
            yield path, uuid_text(value)
        case None | bool():
            pass
        case _:
            yield path, str(value)
