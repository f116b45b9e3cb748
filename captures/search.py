"""Where a text stands in an exchange: in names, ids, errors, and in the keys and values of records."""

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


class Found(NamedTuple):
    """A place where the pattern was found, and the whole text there."""

    path: str
    text: str


def search(
    exchange: Exchange, context: Context, pattern: re.Pattern[str], values: Values | None = None
) -> Iterator[Found]:
    """The places of an exchange that a pattern is found in, what hides inside bytes included.

    Bytes are searched as the UTF-8 that they may be; numbers as they are written. Secrets are not
    looked into. `context` is what was learnt up to this exchange. values: how keys and values of records are
    read that are by a schema and not text.

    >>> found = Exchange(0, 1, "", "me", None, 3, 0, 0, 12, request_body=b"\\0\\0\\0\\1\\0\\1t")
    >>> list(search(found, Context(), re.compile("^t$")))
    [Found(path='request.topics[0].name', text='t')]
    """
    columns: dict[str, Any] = {name: getattr(exchange, name) for name in _COLUMNS}
    if exchange.request is not None:
        columns["request"] = unpacked(redact(exchange.key, "request", exchange.request), values)
    if exchange.response is not None:
        columns["response"] = unpacked(redact(exchange.key, "response", exchange.response), values)
    columns["inside"] = revealed(exchange, context)
    for path, text in _texts(columns, ""):
        if pattern.search(text):
            yield Found(path, text)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _texts(inner, f"{path}.{name}" if path else str(name))
        case list() | tuple():
            for place, inner in enumerate(value):
                yield from _texts(inner, f"{path}[{place}]")
        case bytes() | memoryview():
            yield path, bytes(value).decode(errors="replace")
        case uuid.UUID():
            yield path, uuid_text(value)
        case None | bool():
            pass
        case _:
            yield path, str(value)
