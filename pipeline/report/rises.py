"""Latency that rose far above its usual, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from statistics import median
from typing import Final, NamedTuple

from barnabas.pipeline.report.parts import Row
from barnabas.pipeline.report.wording import clock, duration

RISE, ENOUGH, LEAST = 8, 5, 50.0
"""A p99 stands out at so many times the usual one, of so many exchanges, from so many ms: below that it may
be a machine that was busy."""

BUCKETS: Final = 5
"""Before so many there is no usual."""

WAITS_MS: Final = {"Fetch": 1000.0, "ShareFetch": 1000.0}
"""These wait for records: fetch.max.wait.ms is 500, and an idle consumer waits for all of it."""

GROUPS: Final = ("JoinGroup", "SyncGroup")
"""These wait for other members, of which the section of rebalances speaks."""


class Rise(NamedTuple):
    """A p99 that rose."""

    worst: Row
    """The bucket in which it was highest."""
    usual_ms: float
    """The median of the buckets."""
    since: datetime
    """When the bucket began in which it stood out first, without a usual one until the worst."""
    until: datetime
    """The same of the last one."""

    @property
    def text(self) -> str:
        """In words."""
        p99 = self.worst["p99_ms"]
        when = f"at {clock(self.worst['bucket'])}"
        if self.since < self.until:
            when = f"from {clock(self.since)} to {clock(self.until)}"
        text = f"p99 rose to {duration(p99)} {when}"
        if self.usual_ms:
            text += f", {p99 / self.usual_ms:,.0f} times its usual {duration(self.usual_ms)}"
        return text


def rise(api: str, found: Sequence[Row]) -> Rise | None:
    """The worst of buckets, if it stands out. found: rows of one series with `bucket`, `p99_ms`, `count`."""
    times = sorted(
        (row for row in found if row["p99_ms"] is not None), key=lambda row: row["bucket"]
    )
    if api in GROUPS or len(times) < BUCKETS:
        return None
    usual = median(row["p99_ms"] for row in times)
    least = max(RISE * usual, WAITS_MS.get(api, LEAST))
    high = [row["count"] >= ENOUGH and row["p99_ms"] >= least for row in times]
    if not any(high):
        return None
    at = max((place for place, one in enumerate(high) if one), key=lambda n: times[n]["p99_ms"])
    first = last = at
    while first > 0 and high[first - 1]:
        first -= 1
    while last < len(high) - 1 and high[last + 1]:
        last += 1
    return Rise(times[at], usual, times[first]["bucket"], times[last]["bucket"])
