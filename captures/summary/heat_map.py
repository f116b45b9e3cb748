"""Count exchanges by time and latency: a heat map."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Final

from barnabas.captures.checks.finding import MS
from barnabas.captures.summary.time_columns import TimeColumns

COLUMNS: Final = 240
"""Columns of time; if more are needed, pairs of columns are merged."""

PER_OCTAVE: Final = 2
"""Latency buckets between a latency and its double."""

LEAST_MS: Final = 1 / 64
"""Shorter latencies count as this."""

ROWS: Final = 64
"""Latency buckets; the last one, of 18 hours, includes all longer latencies."""


def bucket(ms: float) -> int:
    """Return the number of a latency's bucket; its upper bound is `bound_ms` of it.

    >>> bucket(0), bucket(1), bound_ms(bucket(1)), bound_ms(bucket(1.1)) > 1.1
    (0, 12, 1.0, True)
    """
    steps = math.ceil(math.log2(max(ms, LEAST_MS)) * PER_OCTAVE)
    return min(steps - round(math.log2(LEAST_MS) * PER_OCTAVE), ROWS)


def bound_ms(number: int) -> float:
    """Return the longest latency of a bucket."""
    return float(LEAST_MS * 2 ** (number / PER_OCTAVE))


class HeatMap:
    """Counts by time and latency, in at most COLUMNS x (ROWS + 1) cells.

    >>> heat = HeatMap()
    >>> heat.note(0, 1.0); heat.note(3_000_000_000, 1.0)
    >>> heat.document()
    {'width_ms': 20, 'cells': [['0', 1.0, 1], ['3000000000', 1.0, 1]]}
    """

    def __init__(self) -> None:
        self._times = TimeColumns[Counter[int]](COLUMNS, Counter, Counter.update)

    def note(self, ts: int, ms: float) -> None:
        """Count an exchange whose request arrived at `ts`, in ns since the epoch."""
        column = self._times.at(ts)
        if column is not None:
            column[bucket(ms)] += 1

    def document(self) -> dict[str, Any]:
        """Return the map in JSON form: cells are [start of the column, longest latency in ms, count]."""
        width_ms = self._times.width_ms
        return {
            "width_ms": width_ms,
            "cells": [
                [str(number * width_ms * MS), bound_ms(row), count]
                for number, column in sorted(self._times.columns.items())
                for row, count in sorted(column.items())
            ],
        }
