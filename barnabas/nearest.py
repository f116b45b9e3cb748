"""Suggestions for misspelled names."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

NEAR = 0.6
"""The similarity (0 to 1) from which on a name is suggested."""

LONGEST = 200
"""The most characters of a name to compare: comparing 64 KiB would take seconds."""

SHORTEST = 3
"""The fewest characters of a name that may be the beginning or the end of a longer one."""


def nearest(name: str, known: Iterable[str], cutoff: float = NEAR) -> str | None:
    """Return the most similar known name, ignoring case; None: none reaches the cutoff (0 to 1).

    A name may also be the beginning or the end of a longer known one, with a typo.

    >>> nearest("NOT_LEDER", ["NOT_CONTROLLER", "NOT_LEADER_OR_FOLLOWER"])
    'NOT_LEADER_OR_FOLLOWER'
    >>> nearest("nonsense", ["apache", "embedded"])
    >>> nearest("x", ["late-end-txn"])
    """
    if len(name) > LONGEST:
        return None
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    matcher.set_seq2(name.lower())

    def ratio(other: str) -> float:
        matcher.set_seq1(other)
        return matcher.ratio()

    def likeness(other: str, part: slice) -> tuple[float, float]:
        whole = ratio(other.lower())
        return max(whole, ratio(other.lower()[part])), whole

    names = [*known]
    # two letters resemble the beginning or the end of almost any name
    whole = [slice(None)] if len(name) < SHORTEST else []
    for part in whole or (slice(len(name) + 1), slice(-len(name) - 1, None)):
        best = max(names, key=lambda other: likeness(other, part), default=None)
        if best is not None and likeness(best, part)[0] >= cutoff:
            return best
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name; empty without a similar name.

    >>> did_you_mean("delai", ("drop", "delay"))
    "; did you mean 'delay'?"
    """
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"


def choices(name: str, known: Collection[str]) -> str:
    """Return the end of an error message about an unknown name; without a similar name, list all names.

    >>> choices("other", ("embedded", "apache"))
    '; choose one of: embedded, apache'
    """
    return did_you_mean(name, known) or f"; choose one of: {', '.join(known)}"
