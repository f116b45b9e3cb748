"""Count exchanges by time and latency: a heat map, next to percentiles by API."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Final

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.summary.api_stats import ApiStats

COLUMNS: Final = 240
"""Columns of time; if more are needed, pairs of columns are merged."""

WIDTH_MS: Final = 10
"""The initial width of a column."""

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

    A column is 10 ms wide, times a power of two.

    >>> heat = HeatMap()
    >>> heat.note(0, 1.0); heat.note(3_000_000_000, 1.0)
    >>> heat.document()
    {'width_ms': 20, 'cells': [['0', 1.0, 1], ['3000000000', 1.0, 1]]}
    """

    def __init__(self) -> None:
        self.width_ms = WIDTH_MS
        self._cells: Counter[tuple[int, int]] = Counter()
        self._first = self._last = -1

    def note(self, ts: int, ms: float) -> None:
        """Count an exchange whose request arrived at `ts`, in ns since the epoch."""
        column = ts // (self.width_ms * MS)
        self._first = column if self._first < 0 else min(self._first, column)
        self._last = max(self._last, column)
        self._cells[column, bucket(ms)] += 1
        while self._last - self._first >= COLUMNS:
            self._widen()

    def _widen(self) -> None:
        self.width_ms *= 2
        self._first, self._last = self._first // 2, self._last // 2
        cells, self._cells = self._cells, Counter()
        for (column, row), count in cells.items():
            self._cells[column // 2, row] += count

    def document(self) -> dict[str, Any]:
        """Return the map in JSON form: cells are [start of the column, longest latency in ms, count]."""
        return {
            "width_ms": self.width_ms,
            "cells": [
                [str(column * self.width_ms * MS), bound_ms(row), count]
                for (column, row), count in sorted(self._cells.items())
            ],
        }


class LatencyView:
    """Percentiles by API and a heat map, as seen by clients and of the brokers alone."""

    def __init__(self) -> None:
        self._sides = {"client": (ApiStats(), HeatMap()), "broker": (ApiStats(), HeatMap())}

    def add(self, exchange: Exchange) -> None:
        """Add an exchange; responses without a request have no latency."""
        if exchange.key <= STRAY:
            return
        for side, ms in (("client", exchange.latency_ms), ("broker", exchange.broker_ms)):
            apis, heat = self._sides[side]
            apis.note(exchange.key, None if ms is None else round(ms * MS))
            if ms is not None:
                heat.note(exchange.ts, ms)

    def rows(self) -> dict[str, Any]:
        """Return, for clients and brokers, a row for each API and the heat map."""
        return {
            side: {
                "apis": [
                    {
                        "api": row.api,
                        "count": row.count,
                        "p50_ms": row.p50_ms,
                        "p99_ms": row.p99_ms,
                        "max_ms": row.max_ms,
                    }
                    for row in apis.rows()
                ],
                "heat": heat.document(),
            }
            for side, (apis, heat) in self._sides.items()
        }
