"""What a reader types to find exchanges: a condition on columns, or plain text."""

from __future__ import annotations

import re
from typing import Final

from barnabas.captures.kafka.columns import COLUMNS
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.filters import BESIDE, Filter
from barnabas.captures.search import search
from barnabas.proxy.control.bodies import filter_of

_OPERATORS: Final = re.compile(r"[=<>!&|()\[\]{}'\"`*?@]")
_NAMES: Final = frozenset((*(column.name for column in COLUMNS), *BESIDE))


def is_plain(text: str) -> bool:
    """Return whether text is no condition: it has no operator, and does not begin with a column's name.

    >>> is_plain("orders"), is_plain("api == 'Fetch'"), is_plain("request.topics")
    (True, False, False)
    """
    return not _OPERATORS.search(text) and re.split(r"\W", text, maxsplit=1)[0] not in _NAMES


def query(text: str, context: Context) -> Filter:
    """Return a filter: of a condition, see `exchange_filter`; of plain text, see `search`, in any case.

    Raises:
        HTTPException: The condition is invalid.
    """
    if not text.strip() or not is_plain(text):
        return filter_of(text, context.topics)
    pattern = re.compile(re.escape(text.strip()), re.IGNORECASE)
    return lambda exchange: any(search(exchange, context, pattern))
