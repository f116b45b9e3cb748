"""Numbers of things in words."""

from __future__ import annotations


def plural(count: int, what: str, several: str | None = None) -> str:
    """A number of things. several: what they are called if that is not `what` with an s.

    >>> plural(1, "topic"), plural(2, "topic"), plural(2, "batch", "batches")
    ('1 topic', '2 topics', '2 batches')
    """
    return f"{count} {what}" if count == 1 else f"{count} {several or what + 's'}"
