"""Counts and latencies by API, in bounded memory: what the closing table shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.exchange import STAND_INS
from barnabas.specs.registry import NAMES, name_of

KINDS: Final = 1000
"""APIs, and errors of one, that are counted apart: a peer may send any number."""

OTHERS: Final = -2
"""The key that stands for all further ones."""

PER_OCTAVE: Final = 35
"""Buckets between a latency and its double: each is 2 % wide, so a percentile is within 1 %."""


@dataclass(frozen=True, slots=True)
class Row:
    """One API's line of the table; latencies in ms, None where no response was seen."""

    api: str
    count: int
    errors: int | None
    """How many responses said an error; None if none of them was looked at."""
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None


@dataclass(slots=True)
class Latencies:
    """How many exchanges took how long, in ns.

    >>> latencies = Latencies()
    >>> for ns in (0, 2**10, 2**20): latencies.note(ns)
    >>> latencies.buckets, round(latencies.percentile_ms(0.5), 6), latencies.max_ms
    ({0: 1, 350: 1, 700: 1}, 0.001034, 1.048576)
    """

    buckets: dict[int, int] = field(default_factory=dict)
    largest: int = 0

    def note(self, ns: int, times: int = 1) -> None:
        """Count one, or several that took the same."""
        if ns > self.largest:
            self.largest = ns
        bucket = int(math.log2(ns) * PER_OCTAVE) if ns > 1 else 0
        self.buckets[bucket] = self.buckets.get(bucket, 0) + times

    def add(self, other: Latencies) -> None:
        """Count what another has counted, too."""
        self.largest = max(self.largest, other.largest)
        for bucket, times in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + times

    def percentile_ms(self, share: float) -> float | None:
        """What a share of all do not exceed (nearest rank), to 1 %; None: there are none."""
        rank = max(1, math.ceil(share * sum(self.buckets.values())))
        for bucket in sorted(self.buckets):
            rank -= self.buckets[bucket]
            if rank <= 0:
                return min(2 ** ((bucket + 0.5) / PER_OCTAVE), float(self.largest)) / 1e6
        return None

    @property
    def max_ms(self) -> float | None:
        """The longest; None: there are none."""
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
        """Count exchanges by the time that the client waited; None if no response came."""
        series = self._series.get(key)
        if series is None:
            series = self._new(key)
        series.count += times
        if latency_ns is not None:
            series.latencies.note(latency_ns, times)

    @property
    def total(self) -> int:
        """Exchanges of all APIs."""
        return sum(series.count for series in self._series.values())

    def _new(self, key: int) -> _Series:
        kept = len(self._series) < KINDS or key in NAMES
        return self._series.setdefault(key if kept else OTHERS, _Series())

    def error(self, key: int, name: str, times: int = 1) -> None:
        """Note what responses said: the name of their error, or an empty name if they said none."""
        series = self._series.get(key) or self._new(key)
        if series.errors is None:
            series.errors = Counter()
        if name:
            known = name in series.errors or len(series.errors) < KINDS
            series.errors[name if known else "others"] += times

    def add(self, other: ApiStats) -> None:
        """Count what another has counted, too."""
        for key, found in other._series.items():
            series = self._series.get(key) or self._new(key)
            series.count += found.count
            series.latencies.add(found.latencies)
            for name, times in () if found.errors is None else [("", 0), *found.errors.items()]:
                self.error(key, name, times)

    def rows(self) -> list[Row]:
        """The table, most frequent API first."""
        ordered = sorted(self._series.items(), key=lambda item: (-item[1].count, item[0]))
        return [_row(key, series) for key, series in ordered]

    def latencies(self) -> Iterator[tuple[int, int, Mapping[int, int]]]:
        """(API key, exchanges, how many of them took how long by bucket), for other tables."""
        for key, series in self._series.items():
            yield key, series.count, series.latencies.buckets

    def errors(self) -> list[tuple[str, str, int]]:
        """(API, error, how often), most frequent first."""
        found = [
            (_name(key), error, count)
            for key, series in self._series.items()
            for error, count in (series.errors or {}).items()
        ]
        return sorted(found, key=lambda item: (-item[2], item))


def _name(key: int) -> str:
    own = {**STAND_INS, OTHERS: "others"}
    return own.get(key) or name_of(key) or f"key {key}"


def _row(key: int, series: _Series) -> Row:
    errors = None if series.errors is None else series.errors.total()
    p50, p99 = map(series.latencies.percentile_ms, (0.5, 0.99))
    return Row(_name(key), series.count, errors, p50, p99, series.latencies.max_ms)
