"""Latencies that rose far above their median, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from statistics import median
from typing import Final, NamedTuple

from barnabas.pipeline.report.parts import Row
from barnabas.pipeline.report.wording import clock, clock_span, duration

RISE, ENOUGH, LEAST = 8, 5, 50.0
"""A p99 is a rise if it is this many times the median, of at least this many exchanges, and at least this
many ms: lower values may come from a busy machine."""

BUCKETS: Final = 5
"""With fewer buckets there is no median."""

WAITS_MS: Final = {"Fetch": 1000.0, "ShareFetch": 1000.0}
"""APIs that wait for records: fetch.max.wait.ms is 500, and an idle consumer waits for all of it."""

GROUPS: Final = ("JoinGroup", "SyncGroup")
"""APIs that wait for other members; the section on rebalances has them."""


class Rise(NamedTuple):
    """A p99 that rose."""

    worst: Row
    """The bucket with the highest p99."""
    usual_ms: float
    """The median of the buckets."""
    since: datetime
    """The beginning of the first bucket of the rise, which lasts without interruption until the worst."""
    until: datetime
    """The beginning of the last bucket of the rise."""

    @property
    def row(self) -> Row:
        """Return the worst bucket with the time of the rise."""
        return {**self.worst, "start": self.since, "end": self.until}

    @property
    def text(self) -> str:
        """Return the rise as text."""
        p99 = self.worst["p99_ms"]
        is_long = self.since < self.until
        when = clock_span(self.row) if is_long else f"at {clock(self.since)}"
        text = f"p99 rose to {duration(p99)} {when}"
        if self.usual_ms:
            text += f", {p99 / self.usual_ms:,.0f} times its usual {duration(self.usual_ms)}"
        return text


def rise(api: str, buckets: Sequence[Row]) -> Rise | None:
    """Return the worst rise in rows of one series with `bucket`, `p99_ms` and `count`, or None."""
    times = sorted((row for row in buckets if row["p99_ms"] is not None), key=itemgetter("bucket"))
    if api in GROUPS or len(times) < BUCKETS:
        return None
    median_p99 = median(row["p99_ms"] for row in times)
    least = max(RISE * median_p99, WAITS_MS.get(api, LEAST))
    stretches = groupby(times, key=lambda row: row["count"] >= ENOUGH and row["p99_ms"] >= least)
    rises = []
    for is_high, stretch in stretches:
        if is_high:
            rows = [*stretch]
            worst = max(rows, key=itemgetter("p99_ms"))
            rises.append(Rise(worst, median_p99, rows[0]["bucket"], rows[-1]["bucket"]))
    return max(rises, key=lambda each: each.worst["p99_ms"], default=None)
