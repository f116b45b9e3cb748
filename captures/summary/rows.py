"""Tables of counts, errors and latencies by label, bounded in rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from barnabas.captures.checks.finding import MS
from barnabas.captures.summary.api_stats import Latencies
from barnabas.captures.summary.summary import OTHERS


@dataclass(slots=True)
class Row:
    """The counts of the exchanges with one label."""

    count: int = 0
    errors: int = 0
    latencies: Latencies = field(default_factory=Latencies)

    def add(self, other: Row) -> None:
        """Add the counts of another row."""
        self.count += other.count
        self.errors += other.errors
        self.latencies.add(other.latencies)


class Table:
    """Rows by label. Labels beyond `most` share the row OTHERS.

    >>> table = Table(1)
    >>> for label in ("a", "b", "c"): table.note(label, 2.0)
    >>> [(label, row.count) for label, row in table.ordered()]
    [('a', 1), ('all others', 2)]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: dict[str, Row] = {}

    def note(self, label: str, ms: float | None, *, failed: bool = False) -> None:
        """Count an exchange; ms: its latency, None if it has none."""
        row = self._rows.get(label)
        if row is None:
            row = self._rows.setdefault(label if len(self._rows) < self._most else OTHERS, Row())
        row.count += 1
        row.errors += failed
        if ms is not None:
            row.latencies.note(round(ms * MS))

    def ordered(self) -> list[tuple[str, Row]]:
        """Return the rows with their labels, the most frequent first and OTHERS last."""
        return sorted(
            self._rows.items(), key=lambda item: (item[0] == OTHERS, -item[1].count, item[0])
        )
