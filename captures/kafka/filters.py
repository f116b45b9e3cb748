"""Select exchanges by a condition on their columns, in the language of rules.

For example:

    api == 'Produce' && latency_ms > 100
    error != '' && contains(rules, 'late commit')
    request.topics[?name == 'orders'] && response.throttle_time_ms > 0
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from barnabas.captures.kafka.columns import COLUMNS, NUMBERS
from barnabas.captures.kafka.context.name_completion import complete
from barnabas.captures.kafka.exchange import SASL_TOKEN, STAND_INS, Exchange
from barnabas.captures.kafka.expression import Unclear, expression
from barnabas.captures.kafka.normal_errors import NOT_NORMAL
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.kafka.topics import topics_of
from barnabas.nearest import did_you_mean
from barnabas.specs.dialects import dialects
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.registry import NAMES

BESIDE = ("note", "topics")
"""Names that a condition may use in addition to the columns.

`note`: JSON has it where it has a value. `topics`: a list of the topics' names in both bodies.
"""

Filter = Callable[[Exchange], bool]

FAILED: Final = (
    f"rules || (error != '' && key != {SASL_TOKEN} && note != '{UNANSWERED}' && {NOT_NORMAL})"
)
"""The condition that holds for exchanges with an error, without a response, or that a rule changed.

The error is null without a response. A raw SASL token and a Produce with acks=0 have none by design. Errors
that are part of normal operation are left out.
"""

_UNKNOWN: Final = re.compile(r"(?:key |ERROR_)-?[0-9]+")
"""The text that is shown for an API or an error without a name."""


def exchange_filter(text: str, topics: Mapping[uuid.UUID, str] | None = None) -> Filter:
    """Compile a condition on exchanges.

    Only the columns that the condition names are computed, so bodies are decoded only if needed. An exchange
    for which the condition can't be decided (a function gets null) does not pass.

    Args:
        text: The condition.
        topics: Names for bodies that only have topic ids.

    Raises:
        ValueError: The condition is invalid or names no column; the message has one line.

    >>> passes = exchange_filter("api == 'Metadata' && request_size < 100")
    >>> passes(Exchange(0, 1, "", None, None, 3, 0, 0, 12))
    True
    """
    condition = expression(text, NUMBERS)
    names = [*(column.name for column in COLUMNS), *BESIDE]
    for root in condition.roots or ():
        if root not in names:
            raise ValueError(f"exchanges have no column {root!r}{did_you_mean(root, names)}")
    requested = names if condition.roots is None else condition.roots
    columns = [name for name in requested if name != "topics"]
    has_topics = len(columns) < len(requested)

    def passes(exchange: Exchange) -> bool:
        row = exchange.row(columns)
        if has_topics:
            row["topics"] = sorted(topics_of(exchange, topics or {}))
        for direction in DIRECTIONS:
            if topics and row.get(direction):
                complete(row[direction], exchange.key, exchange.version, direction, topics)
        try:
            return condition.holds(row)
        except Unclear:
            return False

    return passes


def doubts(text: str) -> Iterator[str]:
    """Yield a warning for each compared name that no API or error has.

    Raises ValueError as `exchange_filter`.

    >>> list(doubts("api == 'Prodduce' && error != ''"))
    ["no API is called 'Prodduce'; did you mean 'Produce'?"]
    """
    columns = {
        "api": ("API", [*NAMES.values(), *STAND_INS.values()]),
        "error": ("error", ["", *(each.name for each in ERROR_CODES)]),
    }
    for column, value in sorted(expression(text, NUMBERS).compared()):
        if column not in columns:
            continue
        noun, kafka_names = columns[column]
        if value in kafka_names or _UNKNOWN.fullmatch(value):
            continue
        names = [
            *kafka_names,
            *_of_dialects(column),
        ]  # load dialects only for names unknown to Kafka
        if value not in names:
            yield f"no {noun} is called {value!r}{did_you_mean(value, names)}"


def _of_dialects(column: str) -> Iterator[str]:
    """Yield the names of the APIs or the errors of all dialects."""
    for dialect in dialects():
        yield from (each.name for each in (dialect.apis if column == "api" else dialect.errors))
