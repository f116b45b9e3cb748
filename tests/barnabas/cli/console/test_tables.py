from __future__ import annotations

import io
from typing import Any

from barnabas.captures.summary.api_stats import Row
from barnabas.cli.console import tables
from barnabas.cli.console.terminal import Terminal


def text_of(table: Any) -> list[str]:
    out = io.StringIO()
    Terminal(file=out, width=100).show_table(table)
    return out.getvalue().splitlines()


def test_the_table_of_apis() -> None:
    rows = [Row("Fetch", 1200, 3, 0.512, 98.76, 501.2), Row("Produce", 7, None, None, None, None)]
    assert text_of(tables.tally_table(rows)) == [
        "API      count  errors  p50 ms  p99 ms  max ms",
        "Fetch     1200       3    0.51    98.8     501",
        "Produce      7       -       -       -       -",
    ]


def test_the_table_of_rules_shows_names_as_they_are() -> None:
    rule = tables.RuleRow("[bold]slow[/bold]", 10, 2, 1, "hold, 8 released, 1 timed out")
    assert text_of(tables.rules_table([rule])) == [
        "rule               matched  fired  undecided  what",
        "[bold]slow[/bold]       10      2          1  hold, 8 released, 1 timed out",
    ]
