"""What a reader types to find exchanges: a condition on columns, or plain text."""

from __future__ import annotations

import re
from typing import Final

from barnabas.captures.kafka.columns import COLUMNS
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.filters import BESIDE, Filter
from barnabas.captures.search import search
from barnabas.captures.values.value import Values
from barnabas.proxy.control.bodies import filter_of

_NAMES: Final = "|".join((*(column.name for column in COLUMNS), *BESIDE))

PLAIN: Final = (
    rf"^(?!\s*(?:{_NAMES}|(?:request|response)(?:\.[A-Za-z0-9_]+)+)\s*$)"
    r"""[^=<>!&|()\[\]{}'"`*?@]*$"""
)
"""The regular expression of plain text, in Python and JavaScript alike: see `is_plain`."""


def is_plain(text: str) -> bool:
    """Return whether text is no condition: it has no operator, and is no name of a column or a body's field.

    >>> is_plain("orders"), is_plain("user-events"), is_plain("user.events")
    (True, True, True)
    >>> is_plain("api == 'Fetch'"), is_plain("rules"), is_plain("request.topics")
    (False, False, False)
    """
    return re.search(PLAIN, text) is not None


def query(text: str, context: Context, values: Values | None = None) -> Filter:
    """Return a filter: of a condition, see `exchange_filter`; of plain text, see `search`, in any case.

    Args:
        text: The condition or the plain text.
        context: The facts of all exchanges so far.
        values: Decodes keys and values of records, in which plain text is searched.

    Raises:
        HTTPException: The condition is invalid.
    """
    if not text.strip() or not is_plain(text):
        return filter_of(text, context.topics)
    pattern = re.compile(re.escape(text.strip()), re.IGNORECASE)
    return lambda exchange: any(search(exchange, context, pattern, values))
