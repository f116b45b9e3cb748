"""`barnabas summary --by transaction`: a line a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.wording import listed, printable
from barnabas.cli.console.show import ms


def transactions_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Transactions: whose, since when, how long open, how each ended, what is in it."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("transaction")
    for name in ("producer", "epoch", "began", "open ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("outcome", "partitions", "offsets of"):
        table.add_column(name)
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
