"""Count exchanges and latencies by API, in bounded memory, for the closing table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.exchange import STAND_INS
from barnabas.specs.registry import NAMES, name_of

KINDS: Final = 1000
"""APIs, and errors of an API, that are counted separately, since a peer may send any number."""

OTHERS: Final = -2
"""The key of all further APIs."""

PER_OCTAVE: Final = 35
"""Buckets between a latency and its double: each is 2 % wide, so a percentile is accurate to 1 %."""


@dataclass(frozen=True, slots=True)
class Row:
    """One API's line of the table; latencies in ms, None without a response."""

    api: str
    count: int
    errors: int | None
    """Responses with an error; None if no response was checked for errors."""
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None


@dataclass(slots=True)
class Latencies:
    """A histogram of latencies in ns.

    >>> latencies = Latencies()
    >>> for ns in (0, 2**10, 2**20): latencies.note(ns)
    >>> latencies.buckets, round(latencies.percentile_ms(0.5), 6), latencies.max_ms
    ({0: 1, 350: 1, 700: 1}, 0.001034, 1.048576)
    """

    buckets: dict[int, int] = field(default_factory=dict)
    largest: int = 0

    def note(self, ns: int, times: int = 1) -> None:
        """Count one or several exchanges of the same latency."""
        if ns > self.largest:
            self.largest = ns
        bucket = int(math.log2(ns) * PER_OCTAVE) if ns > 1 else 0
        self.buckets[bucket] = self.buckets.get(bucket, 0) + times

    def add(self, other: Latencies) -> None:
        """Add the counts of another histogram."""
        self.largest = max(self.largest, other.largest)
        for bucket, times in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + times

    def percentile_ms(self, share: float) -> float | None:
        """Return the latency that a share of all do not exceed (nearest rank), to 1 %; None if empty."""
        rank = max(1, math.ceil(share * sum(self.buckets.values())))
        for bucket in sorted(self.buckets):
            rank -= self.buckets[bucket]
            if rank <= 0:
                return min(2 ** ((bucket + 0.5) / PER_OCTAVE), float(self.largest)) / 1e6
        return None

    @property
    def max_ms(self) -> float | None:
        """Return the longest latency; None if empty."""
        return self.largest / 1e6 if self.buckets else None


@dataclass(slots=True)
class _Series:
    count: int = 0
    latencies: Latencies = field(default_factory=Latencies)
    errors: Counter[str] | None = None


class ApiStats:
    """Counts of exchanges by API key."""

    def __init__(self) -> None:
        self._series: dict[int, _Series] = {}

    def note(self, key: int, latency_ns: int | None, times: int = 1) -> None:
        """Count exchanges by the latency that the client saw; None without a response."""
        series = self._series.get(key)
        if series is None:
            series = self._new(key)
        series.count += times
        if latency_ns is not None:
            series.latencies.note(latency_ns, times)

    @property
    def total(self) -> int:
        """Return the number of exchanges of all APIs."""
        return sum(series.count for series in self._series.values())

    def _new(self, key: int) -> _Series:
        is_counted = len(self._series) < KINDS or key in NAMES
        return self._series.setdefault(key if is_counted else OTHERS, _Series())

    def error(self, key: int, name: str, times: int = 1) -> None:
        """Count responses by the name of their error; an empty name: no error."""
        series = self._series.get(key) or self._new(key)
        if series.errors is None:
            series.errors = Counter()
        if name:
            is_counted = name in series.errors or len(series.errors) < KINDS
            series.errors[name if is_counted else "others"] += times

    def add(self, other: ApiStats) -> None:
        """Add the counts of another instance."""
        for key, counts in other._series.items():
            series = self._series.get(key) or self._new(key)
            series.count += counts.count
            series.latencies.add(counts.latencies)
            for name, times in () if counts.errors is None else [("", 0), *counts.errors.items()]:
                self.error(key, name, times)

    def rows(self) -> list[Row]:
        """Return the table, the most frequent API first."""
        ordered = sorted(self._series.items(), key=lambda item: (-item[1].count, item[0]))
        return [_row(key, series) for key, series in ordered]

    def latencies(self) -> Iterator[tuple[int, int, Mapping[int, int]]]:
        """Yield API key, number of exchanges, and exchanges by latency bucket, for other tables."""
        for key, series in self._series.items():
            yield key, series.count, series.latencies.buckets

    def errors(self) -> list[tuple[str, str, int]]:
        """Return (API, error, count), the most frequent first."""
        counts = [
            (_name(key), error, count)
            for key, series in self._series.items()
            for error, count in (series.errors or {}).items()
        ]
        return sorted(counts, key=lambda item: (-item[2], item))


def _name(key: int) -> str:
    special = {**STAND_INS, OTHERS: "others"}
    return special.get(key) or name_of(key) or f"key {key}"


def _row(key: int, series: _Series) -> Row:
    errors = None if series.errors is None else series.errors.total()
    p50, p99 = map(series.latencies.percentile_ms, (0.5, 0.99))
    return Row(_name(key), series.count, errors, p50, p99, series.latencies.max_ms)
