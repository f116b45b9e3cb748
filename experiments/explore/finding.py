"""The findings of a check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.proxy.matching.settings import Settings

IDS_IN_TEXT: Final = 5
"""Ids in a finding's text ..."""

IDS_KEPT: Final = 100
"""... and so many in the finding; all are counted."""


class Finding(Settings):
    """A promise that was not kept."""

    kind: str
    """Which one, in a word or two: `lost`."""
    text: str
    """The observation in a sentence."""
    count: int = 1
    """The number of records."""
    ids: tuple[str, ...] = ()
    """Which ones, or the first of them."""


def finding(kind: str, ids: Sequence[str], text: str) -> Finding:
    """Return a finding about records: their number, the text, and the first ids.

    >>> finding("lost", ["a", "b"], "acknowledged, not in orders").text
    '2 acknowledged, not in orders: a, b'
    """
    more = ", ..." if len(ids) > IDS_IN_TEXT else ""
    sentence = f"{len(ids)} {text}: {', '.join(ids[:IDS_IN_TEXT])}{more}"
    return Finding(kind=kind, text=sentence, count=len(ids), ids=tuple(ids[:IDS_KEPT]))
