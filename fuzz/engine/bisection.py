"""A search for the oldest and the newest release that show a finding, with few of them tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Range(NamedTuple):
    """The releases that show a finding, both ends included.

    tried: release -> whether it shows the finding, in the order of trials.
    """

    oldest: str
    newest: str
    tried: dict[str, bool]


def bisect(releases: Sequence[str], known: str, shows: Callable[[str], bool]) -> Range | None:
    """Search the releases around one that is known to show a finding; None if that one does not.

    Between the known release and either end, the result is assumed to change at most once.

    Args:
        releases: All releases, in ascending order.
        known: The release that showed the finding.
        shows: Tries a release.

    >>> found = bisect("abcdefgh", "d", lambda one: one in "cdef")
    >>> found.oldest, found.newest, "".join(found.tried)
    ('c', 'f', 'dabchfg')
    """
    tried: dict[str, bool] = {}

    def shows_at(index: int) -> bool:
        name = releases[index]
        if name not in tried:
            tried[name] = shows(name)
        return tried[name]

    middle = releases.index(known)
    if not shows_at(middle):
        return None
    oldest, newest = (_last(middle, end, shows_at) for end in (0, len(releases) - 1))
    return Range(releases[oldest], releases[newest], tried)


def _last(start: int, end: int, tell: Callable[[int], bool]) -> int:
    """Return the index, between one that shows it and an end, of the last that shows it."""
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
