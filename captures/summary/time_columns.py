"""Columns of time that get wider as time goes on, so that there are never more than a stated number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from barnabas.captures.checks.finding import MS

WIDTH_MS: Final = 10
"""The initial width of a column."""

C = TypeVar("C")


class TimeColumns(Generic[C]):
    """Values by time. A column is 10 ms wide, times a power of two.

    Args:
        most: The most columns between the first and the last; if more are needed, pairs are merged.
        make: Returns the value of an empty column.
        merge: Adds to a column the value of the column after it.
        window_ms: Columns older than this, seen from the newest one, are dropped; None: no column is.

    >>> times = TimeColumns(2, list, list.extend)
    >>> for ms in (0, 10, 20, 30): times.at(ms * MS).append(ms)
    >>> times.width_ms, times.columns
    (20, {0: [0, 10], 1: [20, 30]})
    """

    def __init__(
        self,
        most: int,
        make: Callable[[], C],
        merge: Callable[[C, C], Any],
        window_ms: int | None = None,
    ) -> None:
        self.width_ms = WIDTH_MS
        self.columns: dict[int, C] = {}
        """Values by the number of the column: its beginning, divided by the width."""
        self._most = most
        self._make = make
        self._merge = merge
        self._window_ms = window_ms
        self._first = self._last = -1

    def number(self, ts: int) -> int:
        """Return the number of the column that has a time, in ns since the epoch."""
        return ts // (self.width_ms * MS)

    def at(self, ts: int) -> C | None:
        """Return the value of the column that has a time; None before the window."""
        number = self.number(ts)
        if number > self._last:
            self._last = number
            self._forget()
        if number < self._oldest:
            return None
        self._first = number if self._first < 0 else min(self._first, number)
        while self._last - self._first >= self._most:
            self._widen()
        number = self.number(ts)
        column = self.columns.get(number)
        if column is None:
            column = self.columns[number] = self._make()
        return column

    @property
    def span(self) -> range:
        """Return the numbers from the first column to the last, also of those without a value."""
        return range(self._first, self._last + 1) if self.columns else range(0)

    @property
    def _oldest(self) -> int:
        """Return the number of the first column in the window."""
        if self._window_ms is None:
            return 0
        return self._last - self._window_ms // self.width_ms + 1

    def _forget(self) -> None:
        """Drop the columns before the window."""
        if self._window_ms is None:
            return
        for number in [number for number in self.columns if number < self._oldest]:
            del self.columns[number]
        self._first = max(self._first, min(self.columns, default=self._last))

    def _widen(self) -> None:
        self.width_ms *= 2
        self._first, self._last = self._first // 2, self._last // 2
        columns, self.columns = self.columns, {}
        for number, column in sorted(columns.items(), key=lambda item: item[0]):
            if number // 2 in self.columns:
                self._merge(self.columns[number // 2], column)
            else:
                self.columns[number // 2] = column
