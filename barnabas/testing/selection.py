"""Which exchanges a test asks for."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, TypedDict

from barnabas.testing.exchange import Exchange, Row


class Wanted(TypedDict, total=False):
    """All that is given must hold; what is left out may be anything."""

    api: str
    """Its name."""
    client_id: str
    """A glob."""
    broker: int
    """A node id."""
    topic: str
    """A glob: the request or the response names such a topic."""
    error: str
    """Name of the first error in the response; empty: answered without one."""
    where: str
    """A condition on the columns: JMESPath, as for `barnabas proxy --filter`."""


Selection = Callable[[Row], Exchange | None]


def selection(wanted: Wanted, checked: Row) -> Selection:
    """What makes an exchange of a row that is wanted, and None of others.

    checked: what the proxy made of `api`, `error` and `where`.
    """
    exact = {name: checked.get(name, wanted.get(name)) for name in ("api", "error", "broker")}
    exact = {name: value for name, value in exact.items() if value is not None}
    holds = _condition(checked["filter"]) if "filter" in checked else None
    client_id, topic = wanted.get("client_id"), wanted.get("topic")

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


def described(wanted: Wanted) -> str:
    """What is wanted, as it was written.

    >>> described({"api": "Fetch", "broker": 1})
    "api='Fetch', broker=1"
    """
    return ", ".join(f"{name}={value!r}" for name, value in wanted.items()) or "any API"


def _condition(text: str) -> Callable[[Row], bool]:
    """A condition in JMESPath's own spelling; what it can't decide does not hold."""
    import jmespath

    search = jmespath.compile(text).search

    def holds(row: Row) -> bool:
        try:
            found: Any = search(row)
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            return False
        return not (found is None or found is False or found in ("", [], {}))

    return holds
