"""The counts of a rule as a value, in one process or merged over several."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from typing import Final

from barnabas.proxy.rules.rule import Rule

SHOWN: Final = 3
"""The number of reasons that a line names."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The counts of a `Rule` at one moment."""

    name: str
    faults: tuple[str, ...]
    matched: int
    fired: int
    forced: int
    released: int
    expired: int
    ended: int
    unclear: int
    unable: int
    troubles: Counter[str]
    doubts: Counter[str]

    def __add__(self, other: Outcome) -> Outcome:
        """Return the sum of the counts of one rule in two processes."""
        _, _, *counts = (field.name for field in fields(self))
        return replace(self, **{n: getattr(self, n) + getattr(other, n) for n in counts})

    @property
    def what(self) -> str:
        """Return the rule's faults and the fate of its messages, in one line."""
        parts = [" + ".join(self.faults)]
        if self.released:
            parts.append(f"{self.released} released")
        if self.expired:
            parts.append(f"{self.expired} timed out")
        if self.ended:
            parts.append(f"{self.ended} left when the connection ended")
        if self.unable:
            parts.append(f"{self.unable} could not be done: {causes(self.troubles, self.unable)}")
        if self.unclear:
            parts.append(f"{self.unclear} undecided: {causes(self.doubts, self.unclear)}")
        return ", ".join(parts)


def outcome(rule: Rule) -> Outcome:
    """Return the counts of a rule so far."""
    return Outcome(
        rule.name,
        tuple(fault.name for fault in rule.faults),
        rule.matched,
        rule.fired,
        rule.forced,
        rule.released,
        rule.expired,
        rule.ended,
        rule.unclear,
        rule.unable,
        Counter(rule.troubles),
        Counter(rule.doubts),
    )


def causes(reasons: Counter[str], total: int) -> str:
    """Return the most frequent reasons with their counts, as text.

    Args:
        reasons: The count of each reason.
        total: The number of all cases, including those whose reason is not counted.

    >>> causes(Counter({"a": 2}), 2), causes(Counter("aabccdde"), 9)
    ('a', 'a (2), c (2), d (2), others (3)')
    """
    most = reasons.most_common(SHOWN)
    rest = total - sum(count for _, count in most)
    if len(most) == 1 and not rest:
        return most[0][0]
    words = [f"{reason} ({count})" for reason, count in most]
    return ", ".join(words + [f"others ({rest})"] * (rest > 0))
