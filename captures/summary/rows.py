"""Tables of counts, errors and latencies by label, bounded in rows."""

from __future__ import annotations

from barnabas.captures.checks.finding import MS
from barnabas.captures.summary.counts import Counts
from barnabas.captures.summary.summary import OTHERS


class Table:
    """Rows by label. Labels beyond `most` share the row OTHERS.

    >>> table = Table(1)
    >>> for label in ("a", "b", "c"): table.note(label, 2.0)
    >>> [(label, row.count) for label, row in table.ordered()]
    [('a', 1), ('all others', 2)]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: dict[str, Counts] = {}

    def note(self, label: str, ms: float | None, *, failed: bool = False) -> None:
        """Count an exchange; ms: its latency, None if it has none."""
        row = self._rows.get(label)
        if row is None:
            row = self._rows.setdefault(label if len(self._rows) < self._most else OTHERS, Counts())
        row.count += 1
        row.errors += failed
        if ms is not None:
            row.latencies.note(round(ms * MS))

    def ordered(self) -> list[tuple[str, Counts]]:
        """Return the rows with their labels, the most frequent first and OTHERS last."""
        return sorted(
            self._rows.items(), key=lambda item: (item[0] == OTHERS, -item[1].count, item[0])
        )
