"""Text that XML can hold: names and values that clients and brokers send may have any characters."""

from __future__ import annotations

import re
from typing import Final

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    r"""Replace the characters that XML 1.0 forbids (its production Char) by U+FFFD.

    >>> xml_text("a\0\ud800\tb")
    'a��\tb'
    """
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
