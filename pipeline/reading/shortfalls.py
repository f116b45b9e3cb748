"""What could not be read of a connection, as the errors table says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from barnabas.captures.kafka.conversations import Conversations
from barnabas.plural import plural


class Shortfall(NamedTuple):
    """One kind of it: in a line, and of how many bytes (None: not known)."""

    kind: str
    reason: str
    bytes: int | None


def missing(size: int) -> str:
    """Why bytes are missing; 0: nobody knows how many.

    >>> missing(7), missing(0)
    ('7 bytes are missing', 'the connection began before the capture')
    """
    return f"{size} bytes are missing" if size else "the connection began before the capture"


def forgotten(count: int) -> str:
    """Why names may be missing.

    >>> forgotten(7)
    '7 topics, groups or sessions forgotten: too many'
    """
    return f"{count} topics, groups or sessions forgotten: too many"


def left(conversations: Conversations, undecoded: int, skipped: int) -> Iterator[Shortfall]:
    """What a connection that has just ended adds to the counts of before."""
    count = conversations.undecoded - undecoded
    if count:
        reason = f"{plural(count, 'frame')} of unknown APIs, without a header, or without a request"
        yield Shortfall("undecoded", reason, None)
    size = conversations.skipped - skipped
    if size:
        yield Shortfall("skipped", f"{plural(size, 'byte')} in which no frame was found", size)
