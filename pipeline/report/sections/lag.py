"""The lag of groups over time, and those that are stuck."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from barnabas.pipeline.report.marks import marks, together
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rows
from barnabas.pipeline.report.plotting import PALETTE, grid, label, moment, time_axis
from barnabas.pipeline.report.wording import clock, duration, listed, utc

STUCK: Final = timedelta(seconds=10)
"""A group is stuck at a partition if it has committed nothing for this long while the lag grew: twice the
default of auto.commit.interval.ms."""


def draw(results: Results) -> Content:
    """Draw a line for each group and topic, and a row for each of their partitions."""
    partitions = sorted(rows(results, "lag_partitions"), key=lambda row: -row["lag"])
    stuck: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in partitions:
        if row["lag"] > row["least"] and _silence(row) >= STUCK:
            stuck[row["group"], row["topic"]].append(row)
    statements = [Statement("bad", _text(of), together(of)) for of in stuck.values()]
    columns = {
        "group": "group",
        "topic": "topic",
        "partition": "partition",
        "lag": "lag at the end",
        "least": "lowest lag",
        "committed": "committed",
        "end_offset": "end",
        "committed_ts": "last commit",
    }
    return Content(statements, [_plot(rows(results, "lag"))], [Table(columns, partitions)])


def _silence(row: Row) -> timedelta:
    """Return the time since the last commit; without one, since the committed offset was known."""
    since: timedelta = utc(row["end"]) - utc(row["committed_ts"] or row["start"])
    return since


def _text(partitions: Sequence[Row]) -> str:
    first = partitions[0]
    last = max((row["committed_ts"] for row in partitions if row["committed_ts"]), default=None)
    silence = duration(min(map(_silence, partitions)).total_seconds() * 1000)
    since = f"for {silence}" if last is None else f"since {clock(last)}, for {silence}"
    places = listed(f"{row['topic']}[{row['partition']}]" for row in partitions)
    lowest, highest = (sum(row[name] for row in partitions) for name in ("least", "lag"))
    return (
        f"group {first['group']} is stuck at {places}: it has committed nothing {since}, and its lag "
        f"rose from {lowest:,} to {highest:,}"
    )


def _plot(lags: Sequence[Row]) -> Plot:
    by_line: defaultdict[tuple[str, str], dict[Any, int]] = defaultdict(dict)
    for row in lags:
        by_line[row["group"], row["topic"]][row["bucket"]] = row["lag"]
    times = grid(row["bucket"] for row in lags)
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "marker": {"size": 5},
            "name": label(f"{group}, {topic}"),
            "x": [moment(at) for at in times],
            "y": [by_time.get(at) for at in times],
            "hovertemplate": "%{y:,}",
        }
        for (group, topic), by_time in by_line.items()
    ]
    layout: dict[str, Any] = {
        "colorway": PALETTE,
        "xaxis": time_axis(),
        "yaxis": {"rangemode": "tozero", "title": {"text": "offsets"}},
        "hovermode": "x unified",
    }
    of = [marks({"group": group, "topic": topic}) for group, topic in by_line]
    return Plot("Lag by group and topic", traces, layout, of=of)
