"""The tables of `barnabas summary`: totals by API or another key, generations of groups, transactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.wording import listed, printable, ranges, size
from barnabas.captures.summary.rebalances import Row as Generation
from barnabas.captures.summary.summary import Row
from barnabas.cli.console.show import ms
from barnabas.cli.console.terminal import plain_table
from barnabas.plural import plural

NARROW = 110
"""Cells of a terminal below which errors have lines of their own instead of a column."""


def totals_table(by: str, rows: list[tuple[str, Row]], width: int) -> Table:
    """Make the table of counts, latencies, bytes and errors by one key, for a terminal of some cells."""
    numbers = ("count", "p50 ms", "p99 ms", "max ms", "in", "out")
    last = "versions" if by == "api" else "software" if by != "topic" else ""
    wide = ("errors", last) if width >= NARROW else ()
    table = plain_table(by, *numbers, *wide, numbers=numbers, unbroken=numbers)
    for label, row in rows:
        latencies = map(row.latencies.percentile_ms, (0.5, 0.99, 1))
        errors = [Text(f"{count} {name}", "red") for name, count in row.errors.most_common()]
        words = [Text(printable(label)), Text(", ").join(errors), Text(_last(by, label, row))]
        if width < NARROW:
            first = Text(" ").join(filter(None, (words[0], words[2])))
            words = [Text("\n  ").join((first, *errors))]
        table.add_row(
            words[0],
            str(row.count),
            *("-" if latency is None else ms(latency)[:-3] for latency in latencies),
            size(row.request_bytes),
            size(row.response_bytes),
            *words[1:],
        )
    return table


def _last(by: str, label: str, row: Row) -> str:
    if by == "api":
        return f"v{ranges(row.versions[label])}"
    return "" if by == "topic" else printable(", ".join(sorted(row.software)))


def groups_lines(rows: Sequence[Generation]) -> Iterator[str]:
    """Yield the generations of groups as lines for a narrow terminal, a few lines each."""
    for row in rows:
        joined = f"joined in {ms(row['join_ms'])}"
        if row["assignment_ms"] is not None:
            joined += f", assigned {ms(row['assignment_ms'])}"
        members = plural(row["members"], "member")
        yield f"{row['group']} generation {row['generation']} {row['ts'][11:23]} {members}, {joined}"
        for label, text in (
            ("leader", row["leader"]),
            ("waited for", row["waited_for"]),
            ("because", row["why"]),
        ):
            if text:
                yield f"    {label}: {text}"


def groups_table(rows: Sequence[Generation]) -> Table:
    """Make the table of generations: their times, members and leader, and why each began."""
    numbers = ("generation", "when", "members", "join ms", "assigned ms")
    table = plain_table(
        "group",
        *numbers,
        "leader",
        "waited for",
        "why it began",
        numbers=numbers,
        unbroken=("group", *numbers, "leader"),
    )
    for row in rows:
        assigned = row["assignment_ms"]
        numbers = (
            str(row["generation"]),
            row["ts"][11:23],
            str(row["members"]),
            ms(row["join_ms"])[:-3],
            "-" if assigned is None else ms(assigned)[:-3],
        )
        texts = (row["leader"], row["waited_for"], row["why"] or "-")
        table.add_row(
            Text(printable(row["group"])), *numbers, *(Text(printable(text)) for text in texts)
        )
    return table


def transactions_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Make the table of transactions: producer, times, outcome, partitions and groups."""
    numbers = ("producer", "epoch", "began", "open ms")
    texts = ("outcome", "partitions", "offsets of")
    table = plain_table("transaction", *numbers, *texts, numbers=numbers, unbroken=numbers)
    for row in rows:
        began, open_ms = row["began"], row["open_ms"]
        numbers = (
            str(row["producer_id"]),
            str(row["epoch"]),
            "-" if began is None else iso(int(began))[11:23],
            "-" if open_ms is None else ms(open_ms)[:-3],
        )
        outcome = f"{row['outcome']}: {row['error']}" if row["error"] else row["outcome"]
        texts = (
            outcome,
            listed(row["partitions"], "partition", 60),
            listed(row["offsets"], "group", 40),
        )
        id_ = Text(printable(row["transactional_id"]))
        table.add_row(id_, *numbers, *(Text(printable(text)) for text in texts))
    return table
