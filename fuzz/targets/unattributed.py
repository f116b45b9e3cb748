"""Log entries that name no case: for which of them the case behind them is still searched.

Only for those that tell of an error: no finding comes of others. Once a case has shown one alone, others
of its shape are no other finding. Where none shows it alone (it takes two cases, or the moment), it is tried
with a few batches more; then it is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from barnabas.fuzz.targets.entries import shape, tells

LOST: Final = 3
"""Batches in which the case behind a shape is looked for in vain."""


class Unattributed:
    """Those of one target."""

    def __init__(self) -> None:
        self._caught: set[str] = set()
        self._lost: Counter[str] = Counter()

    def wanted(self, entry: str) -> bool:
        """Whether the case behind an entry is still looked for."""
        if not tells(entry):
            return False
        kind = shape(entry)
        return kind not in self._caught and self._lost[kind] < LOST

    def caught(self, log: Iterable[str]) -> None:
        """One case alone has shown these entries."""
        self._caught.update(map(shape, log))

    def over(self, log: Iterable[str]) -> None:
        """A batch with these entries behind it was looked through."""
        self._lost.update({shape(entry) for entry in log} - self._caught)
