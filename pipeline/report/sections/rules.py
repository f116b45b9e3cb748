"""The effects of fault rules on the exchanges that they fired on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from barnabas.pipeline.report.parts import STATEMENTS, Content, Plot, Row, Statement, table_of
from barnabas.pipeline.report.plotting import AMBER, GREY, LOG_MS, by_name
from barnabas.pipeline.report.wording import duration

MOST: Final = 25


def draw(rules: Sequence[Row]) -> Content:
    """Draw the latency of an API with a rule and without it, connected by a line."""
    drawn_rows = [row for row in rules if row["p50_with_ms"] and row["p50_without_ms"]][:MOST]
    plots = [_plot(drawn_rows)] if drawn_rows else []
    table = table_of(
        rules,
        "rule, api, fired, p50_without_ms: p50 without, p50_with_ms: p50 with the rule, "
        "p99_without_ms: p99 without, p99_with_ms: p99 with the rule, "
        "errors_without: errors without, errors_with: errors with the rule, unanswered, "
        "closed: connections closed",
    )
    return Content([*map(_statement, rules[:STATEMENTS])], plots, [table])


def _plot(rules: Sequence[Row]) -> Plot:
    names = [f"{row['rule']} · {row['api']}" for row in rules]
    lines: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
        "line": {"color": GREY, "width": 3},
        "x": [x for row in rules for x in (row["p50_without_ms"], row["p50_with_ms"], None)],
        "y": [y for name in names for y in (name, name, None)],
    }
    marks = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": title,
            "marker": {"size": 13, "color": colour},
            "x": [row[column] for row in rules],
            "y": names,
            "customdata": [duration(row[column]) for row in rules],
            "hovertemplate": "%{y}: %{customdata}",
        }
        for title, column, colour in (
            ("without the rule", "p50_without_ms", GREY),
            ("with the rule", "p50_with_ms", AMBER),
        )
    ]
    axis = {**LOG_MS, "title": {"text": "p50, ms"}, "dtick": "D2"}
    layout, height = by_name(names, axis)
    return Plot("Latency without and with rules", [lines, *marks], layout, height + 30)


def _statement(row: Row) -> Statement:
    text = f"the rule “{row['rule']}” fired on {row['fired']:,} {row['api']}"
    with_rule, without_rule = row["p50_with_ms"], row["p50_without_ms"]
    if with_rule and without_rule:
        text += f": {duration(with_rule)} where others took {duration(without_rule)}"
    return Statement("warning", text)
