"""Show the lag of groups over time: samples of the offsets in the traffic, at most COLUMNS of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, Final

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.lag import GroupPartition, Lag
from barnabas.captures.summary.time_columns import TimeColumns

COLUMNS: Final = 120
"""The most samples; if more are needed, the later one of each pair is kept."""

GROUPS: Final = 1000
"""Groups of a sample, those with the most lag."""

PARTITIONS: Final = 1000
"""Partitions of a sample, those with the most lag."""

SHOWN: Final = 3
"""Partitions of a group in a document, those with the most lag at any time."""


@dataclass(slots=True)
class _Sample:
    """The lag that was known at a time, in ns since the epoch."""

    ts: int = 0
    sums: dict[str, int] = field(default_factory=dict)
    partitions: dict[GroupPartition, int] = field(default_factory=dict)

    def replace(self, later: _Sample) -> None:
        self.ts, self.sums, self.partitions = later.ts, later.sums, later.partitions


class LagSeries:
    """The lag of all groups, and samples of it: the last one of each span of time with exchanges."""

    def __init__(self, context: Context) -> None:
        self.lag = Lag(context)
        self._times = TimeColumns(COLUMNS, _Sample, _Sample.replace)
        self._last = 0
        """When the last response left, in ns since the epoch; 0: no response yet."""

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned, in the order in which exchanges end."""
        end = exchange.answered
        if end is not None and end > self._last:
            number = self._times.number
            if self._last and number(end) > number(self._last):
                column = self._times.at(self._last)
                if column is not None:
                    column.replace(self._sample())
            self._last = end
        self.lag.add(exchange)

    def _sample(self) -> _Sample:
        lags = {partition: lag for partition, lag in self.lag.lags() if lag is not None}
        sums: Counter[str] = Counter()
        for (group, *_), lag in lags.items():
            sums[group] += lag
        if len(lags) > PARTITIONS:
            lags = dict(nlargest(PARTITIONS, lags.items(), key=lambda item: item[1]))
        return _Sample(self._last, dict(sums.most_common(GROUPS)), lags)

    def document(self, group: str) -> dict[str, Any]:
        """Return the samples of a group in JSON form, oldest first; a lag is null if it was not known."""
        columns = sorted(self._times.columns.items())
        samples = [sample for _, sample in columns if sample.ts < self._last]
        samples = [each for each in (*samples, self._sample()) if group in each.sums]
        most: Counter[GroupPartition] = Counter()
        for sample in samples:
            for partition, lag in sample.partitions.items():
                if partition[0] == group:
                    most[partition] = max(most[partition], lag)
        return {
            "times": [str(sample.ts) for sample in samples],
            "sum": [sample.sums[group] for sample in samples],
            "partitions": [
                {
                    "topic": partition[1],
                    "partition": partition[2],
                    "lag": [sample.partitions.get(partition) for sample in samples],
                }
                for partition, _ in most.most_common(SHOWN)
            ],
        }
