"""A promise: what is found where it was not kept, a finding for each place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log

Place = tuple[str | int, ...]
"""What the ids of a finding have in common, such as a topic and a partition."""

Broken = Iterable[tuple[Place, str]]
"""Ids of records for which the promise was not kept, each with its place."""

Check = Callable[[History, Log], Iterator[Finding]]


def promise(text: str) -> Callable[[Callable[[History, Log], Broken]], Check]:
    """Make a check of a function that finds the records for which a promise was not kept.

    The function's name is the kind of the findings: `failed_yet_written` finds "failed yet written".

    Args:
        text: What was seen, with the parts of the place as `{0}`, `{1}`; the ids follow it.
    """

    def make(broken: Callable[[History, Log], Broken]) -> Check:
        @wraps(broken)
        def check(history: History, log: Log) -> Iterator[Finding]:
            places: dict[Place, list[str]] = {}
            for place, name in broken(history, log):
                places.setdefault(place, []).append(name)
            for place, ids in sorted(places.items()):
                yield finding(broken.__name__.replace("_", " "), ids, text.format(*place))

        return check

    return make
