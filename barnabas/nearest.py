"""The name of a list that somebody may have meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

NEAR = 0.6
"""What is as near as that may be meant; below that nothing is suggested."""

LONGEST = 200
"""Characters of what may be a name: seconds go by until it is told that a text of 64 KiB is none."""


SHORTEST = 3
"""Characters of what may be the beginning or the end of a longer name."""


def nearest(name: str, known: Iterable[str], cutoff: float = NEAR) -> str | None:
    """The known name most like this one, in any case; None: none is by the cutoff (0 to 1).

    A name may also be the beginning or the end of a longer one, with a slip in it.

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
    # two letters are near the beginning or the end of almost any name
    whole = [slice(None)] if len(name) < SHORTEST else []
    for part in whole or (slice(len(name) + 1), slice(-len(name) - 1, None)):
        best = max(names, key=lambda other: likeness(other, part), default=None)
        if best is not None and likeness(best, part)[0] >= cutoff:
            return best
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that nobody knows; empty without a name that is near.

    >>> did_you_mean("delai", ("drop", "delay"))
    "; did you mean 'delay'?"
    """
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"


def choices(name: str, known: Collection[str]) -> str:
    """The same where there are few: all of them if none is near.

    >>> choices("other", ("embedded", "apache"))
    '; choose one of: embedded, apache'
    """
    return did_you_mean(name, known) or f"; choose one of: {', '.join(known)}"
