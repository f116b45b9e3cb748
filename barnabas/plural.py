"""Numbers of things in words."""

from __future__ import annotations


def plural(count: int, what: str) -> str:
    """A number of things.

    >>> plural(1, "topic"), plural(2, "topic")
    ('1 topic', '2 topics')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
