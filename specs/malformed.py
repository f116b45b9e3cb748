"""The error for bytes that no layout can read."""

from __future__ import annotations

import re
from typing import Final

_REASON: Final = re.compile(r"( at byte \d+): .*", re.DOTALL)


def without_reason(text: str) -> str:
    """Remove the reason from text that ends with a Malformed error; the reason may reveal bytes of a message.

    >>> without_reason("request: records at byte 16: magic 0, 1 or 2, not 78")
    'request: records at byte 16'
    """
    return _REASON.sub(r"\1", text)


class Malformed(ValueError):
    """Bytes that no layout can read: the dotted field path, the byte offset in the body, and the reason."""

    def __init__(self, path: str, offset: int, reason: str) -> None:
        self.place = f"{path or 'body'} at byte {offset}"
        """The path and offset, without the reason."""
        super().__init__(f"{self.place}: {reason}")
        self.path = path
        self.offset = offset
        self.reason = reason


class TooLarge(Malformed):
    """Compressed bytes whose output exceeds the caller's limit."""
