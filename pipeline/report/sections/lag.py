"""The lag of groups over time, and those that are stuck."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from barnabas.pipeline.report.grouping import grouped, present
from barnabas.pipeline.report.parts import Content, Plot, Row, Statement, table_of
from barnabas.pipeline.report.plotting import grid, label, line, over_time
from barnabas.pipeline.report.wording import clock, duration, listed, ms_between, partition

STUCK_MS: Final = 10_000
"""A group is stuck at a partition if it has committed nothing for this long while the lag grew: twice the
default of auto.commit.interval.ms."""


def draw(lags: Sequence[Row], partitions: Sequence[Row]) -> Content:
    """Draw a line for each group and topic, and a row for each of their partitions."""
    stuck = [
        row for row in partitions if row["lag"] > row["least"] and _silence_ms(row) >= STUCK_MS
    ]
    statements = [
        Statement("error", _text(stuck_rows), stuck_rows)
        for stuck_rows in grouped(stuck, itemgetter("group", "topic")).values()
    ]
    table = table_of(
        partitions,
        "group, topic, partition, lag: lag at the end, least: lowest lag, committed, "
        "end_offset: end, committed_ts: last commit",
    )
    return Content(statements, [_plot(lags)], [table])


def _silence_ms(row: Row) -> float:
    """Return the time since the last commit; without one, since the committed offset was known."""
    return ms_between(row["committed_ts"] or row["start"], row["end"])


def _text(stuck: Sequence[Row]) -> str:
    last = max(present(stuck, "committed_ts"), default=None)
    silence = duration(min(map(_silence_ms, stuck)))
    since = f"for {silence}" if last is None else f"since {clock(last)}, for {silence}"
    lowest, highest = (sum(row[column] for row in stuck) for column in ("least", "lag"))
    return (
        f"group {stuck[0]['group']} is stuck at {listed(map(partition, stuck))}: it has committed nothing "
        f"{since}, and its lag rose from {lowest:,} to {highest:,}"
    )


def _plot(lags: Sequence[Row]) -> Plot:
    times = grid(row["bucket"] for row in lags)
    traces, trace_rows = [], []
    for (group, topic), rows in grouped(lags, itemgetter("group", "topic")).items():
        by_time = {row["bucket"]: row["lag"] for row in rows}
        values = [by_time.get(at) for at in times]
        traces.append(line(label(f"{group}, {topic}"), times, values, hovertemplate="%{y:,}"))
        trace_rows.append({"group": group, "topic": topic})
    layout = over_time({"rangemode": "tozero", "title": {"text": "offsets"}})
    return Plot("Lag by group and topic", traces, layout, rows=trace_rows)
