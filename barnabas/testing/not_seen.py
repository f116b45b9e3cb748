"""What is said where exchanges were waited for in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from barnabas.plural import plural
from barnabas.testing.exchange import Exchange, Row

SHOWN: Final = 20
"""How many of the last exchanges are shown."""


def not_seen(
    what: str,
    found: int,
    within: float,
    total: int,
    last: Sequence[Exchange],
    connections: Iterable[Row],
) -> str:
    """In lines: how many of `what` passed, who still waits for an answer, and the last of all that passed.

    what: "3 with api='Fetch'". within: in seconds. total: how many passed. connections: as the control port
    lists them.
    """
    lines = [f"{found} of {what} passed within {within:g} s", *_unanswered(connections)]
    lines.append(f"all that passed is {plural(total, 'exchange')}" + (":" if total else ""))
    shown = last[-SHOWN:]
    if total > len(shown):
        lines[-1] += f" the last {len(shown)} of them"
    return "\n  ".join([*lines, *map(str, shown)])


def _unanswered(connections: Iterable[Row]) -> Iterator[str]:
    """Who waits for a response, and to how many requests."""
    for row in connections:
        on_the_way = row["request"]
        count = row["waiting_requests"] + on_the_way["queued"] + on_the_way["held"]
        if count:
            who, broker = row["client_id"] or row["client_address"], row["broker"]
            where = "the bootstrap server" if broker is None else f"broker {broker}"
            yield f"{who} waits for {where} to answer {plural(count, 'request')}"
