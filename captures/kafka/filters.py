"""Which exchanges to show: a condition on their columns, in the language of rules.

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
from barnabas.captures.kafka.context.completing import complete
from barnabas.captures.kafka.exchange import STAND_INS, Exchange
from barnabas.captures.kafka.expression import Unclear, expression
from barnabas.nearest import did_you_mean
from barnabas.specs.dialects import dialects
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.registry import NAMES

BESIDE = ("note",)
"""What a condition may name beside the columns: JSON has it where there is anything to say."""

Filter = Callable[[Exchange], bool]

_UNKNOWN: Final = re.compile(r"(?:key |ERROR_)-?[0-9]+")
"""What is shown of an API or an error that has no name."""


def exchange_filter(text: str, topics: Mapping[uuid.UUID, str] | None = None) -> Filter:
    """A condition on exchanges. Raises ValueError, in one line, for one that can't be meant.

    topics: names that are put where bodies have the ids of topics alone.

    Only the columns that it names are made, so bodies are decoded only where it asks for them. What
    it can't decide (a function that is given null) does not pass.

    >>> passes = exchange_filter("api == 'Metadata' && request_size < 100")
    >>> passes(Exchange(0, 1, "", None, None, 3, 0, 0, 12))
    True
    """
    condition = expression(text, NUMBERS)
    names = [*(one.name for one in COLUMNS), *BESIDE]
    for root in condition.roots or ():
        if root not in names:
            raise ValueError(f"exchanges have no column {root!r}{did_you_mean(root, names)}")
    columns = names if condition.roots is None else condition.roots

    def passes(exchange: Exchange) -> bool:
        row = exchange.row(columns)
        for direction in DIRECTIONS:
            if topics and row.get(direction):
                complete(row[direction], exchange.key, exchange.version, direction, topics)
        try:
            return condition.holds(row)
        except Unclear:
            return False

    return passes


def doubts(text: str) -> Iterator[str]:
    """Report each name in a condition that no API and no error has. Raises ValueError as `exchange_filter`.

    >>> list(doubts("api == 'Prodduce' && error != ''"))
    ["no API is called 'Prodduce'; did you mean 'Produce'?"]
    """
    known = {
        "api": ("API", [*NAMES.values(), *STAND_INS.values()]),
        "error": ("error", ["", *(each.name for each in ERROR_CODES)]),
    }
    for column, value in sorted(expression(text, NUMBERS).compared()):
        if column not in known:
            continue
        what, kafkas = known[column]
        if value in kafkas or _UNKNOWN.fullmatch(value):
            continue
        names = [*kafkas, *_of_dialects(column)]  # loaded only for what is none of Kafka's
        if value not in names:
            yield f"no {what} is called {value!r}{did_you_mean(value, names)}"


def _of_dialects(column: str) -> Iterator[str]:
    """Yield the names of the APIs or the errors of all dialects."""
    for dialect in dialects():
        yield from (each.name for each in (dialect.apis if column == "api" else dialect.errors))
