"""A promise as a check: its violations become findings, one for each position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log

Position = tuple[str | int, ...]
"""The common properties of a finding's records, such as a topic and a partition."""

Violations = Iterable[tuple[Position, str]]
"""Records that violate the promise: position and id."""

Check = Callable[[History, Log], Iterator[Finding]]


def promise(text: str) -> Callable[[Callable[[History, Log], Violations]], Check]:
    """Turn a function that yields violations of a promise into a check.

    The function's name is the kind of the findings: `failed_yet_written` finds "failed yet written".

    Args:
        text: The observation, with the parts of the position as `{0}`, `{1}`; the ids follow it.
    """

    def make(broken: Callable[[History, Log], Violations]) -> Check:
        @wraps(broken)
        def check(history: History, log: Log) -> Iterator[Finding]:
            ids_by_position: dict[Position, list[str]] = {}
            for position, name in broken(history, log):
                ids_by_position.setdefault(position, []).append(name)
            for position, ids in sorted(ids_by_position.items()):
                yield finding(broken.__name__.replace("_", " "), ids, text.format(*position))

        return check

    return make
