"""The error message when the expected exchanges did not pass in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from barnabas.plural import plural
from barnabas.testing.exchange import Exchange, Row

SHOWN: Final = 20
"""The most exchanges that a message lists."""


def timeout_message(
    expected: str,
    count: int,
    within: float,
    total: int,
    last: Sequence[Exchange],
    connections: Iterable[Row],
) -> str:
    """Return the message: how many exchanges passed, which requests wait, and the last exchanges.

    Args:
        expected: The expected exchanges, such as "3 with api='Fetch'".
        count: How many of them passed.
        within: The timeout in seconds.
        total: How many exchanges passed in all.
        last: The last exchanges.
        connections: The connections as the control port lists them.
    """
    first = f"{count} of {expected} passed within {within:g} s"
    return "\n  ".join([first, *traffic_lines(total, last, connections)])


def traffic_lines(total: int, last: Sequence[object], connections: Iterable[Row]) -> list[str]:
    """Return lines with the requests that wait, the number of exchanges, and the last ones."""
    lines = [*_unanswered(connections)]
    lines.append(f"all that passed is {plural(total, 'exchange')}" + (":" if total else ""))
    listed = last[-SHOWN:]
    if total > len(listed):
        lines[-1] += f" the last {len(listed)} of them"
    return [*lines, *map(str, listed)]


def _unanswered(connections: Iterable[Row]) -> Iterator[str]:
    """Yield a line for each client that waits for responses."""
    for row in connections:
        on_the_way = row["request"]
        count = row["waiting_requests"] + on_the_way["queued"] + on_the_way["held"]
        if count:
            who, broker = row["client_id"] or row["client_address"], row["broker"]
            server = "the bootstrap server" if broker is None else f"broker {broker}"
            yield f"{who} waits for {server} to answer {plural(count, 'request')}"
