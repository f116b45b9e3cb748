"""What a check finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.proxy.matching.settings import Settings

SHOWN: Final = 5
"""So many ids stand in a sentence ..."""

KEPT: Final = 100
"""... and so many in the finding; all are counted."""


class Finding(Settings):
    """A promise that was not kept."""

    kind: str
    """Which one, in a word or two: `lost`."""
    text: str
    """What was seen, in a sentence."""
    count: int = 1
    """How many records it is about."""
    ids: tuple[str, ...] = ()
    """Which ones, or the first of them."""


def finding(kind: str, ids: Sequence[str], text: str) -> Finding:
    """A finding about these records: their number stands before the text, the first ones behind it.

    >>> finding("lost", ["a", "b"], "acknowledged, not in orders").text
    '2 acknowledged, not in orders: a, b'
    """
    more = ", ..." if len(ids) > SHOWN else ""
    said = f"{len(ids)} {text}: {', '.join(ids[:SHOWN])}{more}"
    return Finding(kind=kind, text=said, count=len(ids), ids=tuple(ids[:KEPT]))
