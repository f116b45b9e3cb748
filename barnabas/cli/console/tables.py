"""The closing tables: what APIs cost, and what rules have done."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.captures.summary.api_stats import Row
from barnabas.cli.console.show import ms


def tally_table(rows: Iterable[Row]) -> Table:
    """The closing table of APIs: counts, errors and latencies."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("API")
    for name in ("count", "errors", "p50 ms", "p99 ms", "max ms"):
        table.add_column(name, justify="right")
    for row in rows:
        errors = Text("-" if row.errors is None else str(row.errors), "red" if row.errors else "")
        latencies = (row.p50_ms, row.p99_ms, row.max_ms)
        table.add_row(
            Text(row.api),
            str(row.count),
            errors,
            *("-" if latency is None else ms(latency)[:-3] for latency in latencies),
        )
    return table


class RuleRow(NamedTuple):
    """What a rule has done."""

    name: str
    matched: int
    fired: int
    undecided: int
    what: str


def rules_table(rules: Iterable[RuleRow]) -> Table:
    """What rules have done; one that never fired stands out."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("rule")
    for name in ("matched", "fired", "undecided"):
        table.add_column(name, justify="right")
    table.add_column("what")
    for rule in rules:
        table.add_row(
            Text(printable(rule.name), "magenta" if rule.fired else "yellow"),
            str(rule.matched),
            str(rule.fired),
            str(rule.undecided),
            Text(printable(rule.what)),
        )
    return table
