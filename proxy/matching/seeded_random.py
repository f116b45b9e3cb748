"""Reproducible chance: every number is a hash of the decision that it is for.

No generator is shared, so the numbers of one connection never depend on another connection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

Roll = Callable[[], float]
"""Returns the next random number of one decision, in [0, 1)."""

Key = tuple[str | int | None, ...]
"""The identity of a decision: client id, broker, ordinal of the connection, ordinal of the match."""


def seeded_roll(seed: int, rule: str, key: Key) -> Roll:
    """Return a function that draws the numbers of one decision of a rule.

    >>> first, again = (seeded_roll(7, "slow", ("app", 1, 0, 0)) for _ in range(2))
    >>> [round(first(), 3), round(first(), 3)] == [round(again(), 3), round(again(), 3)]
    True
    """
    drawn = 0

    def draw() -> float:
        nonlocal drawn
        # ascii() is one-to-one for these and, unlike repr(), the same in every Python.
        text = ascii((seed, rule, key, drawn)).encode()
        drawn += 1
        digest = hashlib.blake2b(text, digest_size=8).digest()
        return (int.from_bytes(digest) >> 11) * 2.0**-53

    return draw
