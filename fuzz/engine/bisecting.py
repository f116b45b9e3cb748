"""Which releases show a finding: the oldest and the newest, with few of them tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Range(NamedTuple):
    """The releases that show it, both ends included, and what was tried: by name, in the order of trials."""

    oldest: str
    newest: str
    tried: dict[str, bool]


def bisect(releases: Sequence[str], known: str, shows: Callable[[str], bool]) -> Range | None:
    """The range around a release that is known to show it; None if that one does not, when it is tried.

    releases: ascending, `known` among them. Between it and either end it is taken to change at most once.

    >>> found = bisect("abcdefgh", "d", lambda one: one in "cdef")
    >>> found.oldest, found.newest, "".join(found.tried)
    ('c', 'f', 'dabchfg')
    """
    tried: dict[str, bool] = {}

    def tell(place: int) -> bool:
        name = releases[place]
        if name not in tried:
            tried[name] = shows(name)
        return tried[name]

    middle = releases.index(known)
    if not tell(middle):
        return None
    oldest, newest = (_last(middle, end, tell) for end in (0, len(releases) - 1))
    return Range(releases[oldest], releases[newest], tried)


def _last(start: int, end: int, tell: Callable[[int], bool]) -> int:
    """From a place that shows it, the last one towards an end that does."""
    if tell(end):
        return end
    yes, no = start, end
    while abs(no - yes) > 1:
        between = (yes + no) // 2
        if tell(between):
            yes = between
        else:
            no = between
    return yes
