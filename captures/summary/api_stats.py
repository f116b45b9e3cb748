"""Counts and latencies by API, in bounded memory: what the closing table shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.exchange import STAND_INS
from barnabas.specs.registry import NAMES

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
class _Series:
    count: int = 0
    largest: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
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
        if latency_ns is None:
            return
        if latency_ns > series.largest:
            series.largest = latency_ns
        at = bucket(latency_ns)
        series.buckets[at] = series.buckets.get(at, 0) + times

    def _new(self, key: int) -> _Series:
        kept = len(self._series) < KINDS or key in NAMES
        return self._series.setdefault(key if kept else OTHERS, _Series())

    def error(self, key: int, name: str) -> None:
        """Note what a response said: the name of its error, or an empty name if it said none."""
        series = self._series.get(key) or self._new(key)
        if series.errors is None:
            series.errors = Counter()
        if name:
            known = name in series.errors or len(series.errors) < KINDS
            series.errors[name if known else "others"] += 1

    def rows(self) -> list[Row]:
        """The table, most frequent API first."""
        ordered = sorted(self._series.items(), key=lambda item: (-item[1].count, item[0]))
        return [_row(key, series) for key, series in ordered]

    def latencies(self) -> Iterator[tuple[int, int, Mapping[int, int]]]:
        """(API key, exchanges, how many of them took how long by bucket), for other tables."""
        for key, series in self._series.items():
            yield key, series.count, series.buckets

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
    return own.get(key) or NAMES.get(key, f"key {key}")


def _row(key: int, series: _Series) -> Row:
    errors = None if series.errors is None else series.errors.total()
    if not series.buckets:
        return Row(_name(key), series.count, errors, None, None, None)
    p50, p99 = (quantile(series.buckets, share, series.largest) / 1e6 for share in (0.5, 0.99))
    return Row(_name(key), series.count, errors, p50, p99, series.largest / 1e6)


def bucket(latency_ns: int) -> int:
    """The bucket that a latency counts in.

    >>> bucket(2**10), bucket(0)
    (350, 0)
    """
    return int(math.log2(latency_ns) * PER_OCTAVE) if latency_ns > 1 else 0


def quantile(buckets: dict[int, int], share: float, largest: int) -> float:
    """The latency in ns that a share of all do not exceed (nearest rank), to 1 %.

    >>> round(quantile({bucket: 1 for bucket in (0, 350, 700)}, 0.5, 2**20))
    1034
    """
    rank = max(1, math.ceil(share * sum(buckets.values())))
    for bucket in sorted(buckets):
        rank -= buckets[bucket]
        if rank <= 0:
            return min(2 ** ((bucket + 0.5) / PER_OCTAVE), float(largest))
    return float(largest)
