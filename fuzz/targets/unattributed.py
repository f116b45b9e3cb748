"""Log entries that name no case: for which templates the case behind them is still searched.

Once a case has shown one alone, others that say the same tell nothing new. Where none shows it alone (it
takes two cases, or the moment), it is tried with a few batches more; then it is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from barnabas.fuzz.targets.entries import template

LOST: Final = 3
"""Batches in which the case behind a template is looked for in vain."""


class Unattributed:
    """Those of one target."""

    def __init__(self) -> None:
        self._caught: set[str] = set()
        self._lost: Counter[str] = Counter()

    def wanted(self, entry: str) -> bool:
        """Whether the case behind an entry is still looked for."""
        shape = template(entry)
        return shape not in self._caught and self._lost[shape] < LOST

    def caught(self, log: Iterable[str]) -> None:
        """One case alone has shown these entries."""
        self._caught.update(map(template, log))

    def over(self, log: Iterable[str]) -> None:
        """A batch with these entries behind it was looked through."""
        self._lost.update({template(entry) for entry in log} - self._caught)
