"""`barnabas summary --by group`: a line a generation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.captures.summary.rebalances import Row
from barnabas.cli.console.show import ms
from barnabas.plural import plural


def groups_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The same for a narrow terminal, a few lines each."""
    for row in rows:
        joined = f"joined in {ms(row['join_ms'])}"
        if row["assignment_ms"] is not None:
            joined += f", assigned {ms(row['assignment_ms'])}"
        members = plural(row["members"], "member")
        yield f"{row['group']} generation {row['generation']} {row['ts'][11:23]} {members}, {joined}"
        for what, text in (
            ("leader", row["leader"]),
            ("waited for", row["waited_for"]),
            ("because", row["why"]),
        ):
            if text:
                yield f"    {what}: {text}"


def groups_table(rows: Sequence[Row]) -> Table:
    """Generations: why each began, how long JoinGroup took, for whom it waited, who leads."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("group", no_wrap=True)
    for name in ("generation", "when", "members", "join ms", "assigned ms"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("leader", no_wrap=True)
    table.add_column("waited for")
    table.add_column("why it began")
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
