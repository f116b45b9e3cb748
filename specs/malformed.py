"""The one error for bytes that no layout reads."""

from __future__ import annotations

import re
from typing import Final

_REASON: Final = re.compile(r"( at byte \d+): .*", re.DOTALL)


def without_reason(text: str) -> str:
    """A text that ends with such an error, without its reason: that may tell what bytes are.

    >>> without_reason("request: records at byte 16: magic 0, 1 or 2, not 78")
    'request: records at byte 16'
    """
    return _REASON.sub(r"\1", text)


class Malformed(ValueError):
    """Bytes that no layout reads: dotted field path, byte offset in the body, what was expected."""

    def __init__(self, path: str, offset: int, reason: str) -> None:
        self.place = f"{path or 'body'} at byte {offset}"
        """Where, without what is there."""
        super().__init__(f"{self.place}: {reason}")
        self.path = path
        self.offset = offset
        self.reason = reason


class TooLarge(Malformed):
    """Compressed bytes that hold more than the caller allows."""
