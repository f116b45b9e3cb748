"""The closing tables of a proxy: counts and latencies by API, and matches by rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.captures.summary.api_stats import Row
from barnabas.cli.console.show import ms
from barnabas.cli.console.terminal import plain_table


def tally_table(rows: Iterable[Row]) -> Table:
    """Make the closing table of APIs: counts, errors and latencies."""
    numbers = ("count", "errors", "p50 ms", "p99 ms", "max ms")
    table = plain_table("API", *numbers, numbers=numbers)
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
    """The counters of a rule."""

    name: str
    matched: int
    fired: int
    undecided: int
    what: str


def rules_table(rules: Iterable[RuleRow]) -> Table:
    """Make the closing table of rules; names of rules that never fired are yellow."""
    numbers = ("matched", "fired", "undecided")
    table = plain_table("rule", *numbers, "what", numbers=numbers)
    for rule in rules:
        table.add_row(
            Text(printable(rule.name), "magenta" if rule.fired else "yellow"),
            str(rule.matched),
            str(rule.fired),
            str(rule.undecided),
            Text(printable(rule.what)),
        )
    return table
