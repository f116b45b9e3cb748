"""The effects of fault rules on the exchanges that they fired on."""

from __future__ import annotations

from typing import Any, Final

from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rows
from barnabas.pipeline.report.plotting import AMBER, GREY, bars_height, names_axis
from barnabas.pipeline.report.wording import duration

MOST: Final = 25


def draw(results: Results) -> Content:
    """Draw the latency of an API with a rule and without it, connected by a line."""
    rule_rows = sorted(rows(results, "rules"), key=lambda row: -row["fired"])
    drawn_rows = [row for row in rule_rows if row["p50_with_ms"] and row["p50_without_ms"]][:MOST]
    names = [_name(row) for row in drawn_rows]
    lines: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
        "line": {"color": GREY, "width": 3},
        "x": [x for row in drawn_rows for x in (row["p50_without_ms"], row["p50_with_ms"], None)],
        "y": [y for row in drawn_rows for y in (_name(row), _name(row), None)],
    }
    marks = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": title,
            "marker": {"size": 13, "color": colour},
            "x": [row[column] for row in drawn_rows],
            "y": names,
            "customdata": [duration(row[column]) for row in drawn_rows],
            "hovertemplate": "%{y}: %{customdata}",
        }
        for title, column, colour in (
            ("without the rule", "p50_without_ms", GREY),
            ("with the rule", "p50_with_ms", AMBER),
        )
    ]
    layout: dict[str, Any] = {
        "xaxis": {"type": "log", "title": {"text": "p50, ms"}, "tickformat": "~g", "dtick": "D2"},
        "yaxis": names_axis(names),
    }
    plots = []
    if drawn_rows:
        plots = [
            Plot(
                "Latency without and with rules",
                [lines, *marks],
                layout,
                bars_height(len(drawn_rows)) + 30,
            )
        ]
    columns = {
        "rule": "rule",
        "api": "API",
        "fired": "fired",
        "p50_without_ms": "p50 without",
        "p50_with_ms": "p50 with the rule",
        "p99_without_ms": "p99 without",
        "p99_with_ms": "p99 with the rule",
        "errors_without": "errors without",
        "errors_with": "errors with the rule",
        "unanswered": "unanswered",
        "closed": "connections closed",
    }
    return Content([*map(_statement, rule_rows[:3])], plots, [Table(columns, rule_rows)])


def _name(row: Row) -> str:
    return f"{row['rule']} · {row['api']}"


def _statement(row: Row) -> Statement:
    text = f"the rule “{row['rule']}” fired on {row['fired']:,} {row['api']}"
    if row["p50_with_ms"] and row["p50_without_ms"]:
        without_rule = duration(row["p50_without_ms"])
        text += f": {duration(row['p50_with_ms'])} where others took {without_rule}"
    return Statement("odd", text)
