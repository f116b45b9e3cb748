"""The conditions by which a test selects exchanges."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, TypedDict

from barnabas.testing.exchange import Exchange, Row


class ExchangeQuery(TypedDict, total=False):
    """Conditions on exchanges, all of which must hold; missing ones are not checked."""

    api: str
    """The name of the API."""
    client_id: str
    """A glob."""
    broker: int
    """A node id."""
    topic: str
    """A glob: the request or the response names such a topic."""
    error: str
    """Name of the first error in the response; empty: a response without an error."""
    where: str
    """A condition on the columns: JMESPath, as for `barnabas proxy --filter`."""


Selection = Callable[[Row], Exchange | None]


def selection(query: ExchangeQuery, checked: Row) -> Selection:
    """Return a function that makes an exchange of a row if the conditions hold, else returns None.

    checked: The values of `api`, `error` and `where`, as the proxy has validated them.
    """
    exact = {name: checked.get(name, query.get(name)) for name in ("api", "error", "broker")}
    exact = {name: value for name, value in exact.items() if value is not None}
    holds = _condition(checked["filter"]) if "filter" in checked else None
    client_id, topic = query.get("client_id"), query.get("topic")

    def selected(row: Row) -> Exchange | None:
        if any(row[name] != value for name, value in exact.items()):
            return None
        if client_id is not None and not fnmatchcase(row["client_id"] or "", client_id):
            return None
        if holds is not None and not holds(row):
            return None
        exchange = Exchange.of(row)
        if topic is not None and not any(fnmatchcase(name, topic) for name in exchange.topics):
            return None
        return exchange

    return selected


def described(query: ExchangeQuery) -> str:
    """Describe the conditions as the test has them.

    >>> described({"api": "Fetch", "broker": 1})
    "api='Fetch', broker=1"
    """
    return ", ".join(f"{name}={value!r}" for name, value in query.items()) or "any API"


def _condition(text: str) -> Callable[[Row], bool]:
    """Return a JMESPath condition as a function; it is False where it can't be evaluated."""
    import jmespath

    search = jmespath.compile(text).search

    def holds(row: Row) -> bool:
        try:
            value: Any = search(row)
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            return False
        return not (value is None or value is False or value in ("", [], {}))

    return holds
