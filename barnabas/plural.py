"""Numbers with nouns."""

from __future__ import annotations


def plural(count: int, noun: str, several: str | None = None) -> str:
    """Return a number with a noun in singular or plural.

    several: The plural; None: the noun with an s.

    >>> plural(1, "topic"), plural(2, "topic"), plural(2, "batch", "batches")
    ('1 topic', '2 topics', '2 batches')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {several or noun + 's'}"
