"""What the terminal shows: one line for each exchange, and the closing tables.

`segments` says what stands on a line and of which kind, without rich; `line` puts it into colours
and into the width of a terminal. Nothing here reads a clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from captures.context import Context
from captures.exchange import Exchange
from captures.summary import details
from captures.tally import Row
from captures.wording import printable

if TYPE_CHECKING:
    from proxy.rules import Rule

SLOW_MS: Final = 100.0
"""From this latency on a line is marked as slow ..."""

SLOW_WAIT_MS: Final = 1000.0
"""... or from this one, for APIs whose brokers wait on purpose."""

WAITING: Final = (1, 11, 14, 78)
"""Fetch, JoinGroup, SyncGroup, ShareFetch: answered when there is something to say."""

NARROW: Final = 16
"""Details are cut down to this many cells before anything else on the line is."""

STYLES: Final = {
    "time": "dim",
    "client": "cyan",
    "broker": "dim",
    "api": "bold",
    "details": "",
    "note": "dim",
    "error": "bold red",
    "latency": "green",
    "slow": "yellow",
    "rules": "magenta",
}
"""The style of each kind of segment."""

COLUMNS: Final = {"client": 16, "broker": 3, "api": 20}
"""Cells that segments are padded to, so that the lines of a log stand below each other."""


class Segment(NamedTuple):
    """A part of a line and what kind it is, a key of STYLES."""

    kind: str
    text: str


def segments(
    exchange: Exchange, *, zone: tzinfo | None = None, context: Context | None = None
) -> list[Segment]:
    """The parts of an exchange's line, in order; those that say nothing are left out.

    zone: of the time of day, by default the machine's. context: see `captures.summary.details`.
    """
    when = datetime.fromtimestamp(exchange.ts // 1_000_000 / 1000, zone)
    latency = exchange.latency_ms
    parts = [
        Segment("time", when.strftime("%H:%M:%S.") + f"{exchange.ts // 1_000_000 % 1000:03}"),
        Segment("client", printable(exchange.client_id or exchange.client_address)),
        Segment("broker", "-" if exchange.broker is None else f"b{exchange.broker}"),
        Segment("api", f"{exchange.api} v{exchange.version}"),
        Segment("details", details(exchange, context)),
        Segment("note", printable(exchange.note)),
        Segment("error", exchange.error or ""),
        Segment("slow" if _slow(exchange) else "latency", "" if latency is None else ms(latency)),
        Segment("rules", f"⟵ {printable(', '.join(exchange.rules))}" if exchange.rules else ""),
    ]
    return [part for part in parts if part.text]


def _slow(exchange: Exchange) -> bool:
    limit = SLOW_WAIT_MS if exchange.key in WAITING else SLOW_MS
    return exchange.latency_ms is not None and exchange.latency_ms >= limit


def ms(latency: float) -> str:
    """A latency in ms with three digits that count.

    >>> ms(0.1234), ms(12.34), ms(1234.5)
    ('0.12 ms', '12.3 ms', '1234 ms')
    """
    return f"{latency:.{2 if latency < 10 else 1 if latency < 100 else 0}f} ms"


def line(
    exchange: Exchange,
    width: int | None = None,
    *,
    zone: tzinfo | None = None,
    context: Context | None = None,
) -> Text:
    """The line of an exchange in at most `width` cells: details give way first. None: all of it."""
    parts = []
    for kind, text in segments(exchange, zone=zone, context=context):
        if kind == "client" and width is not None:
            text = _cut(text, COLUMNS[kind])
        parts.append(Segment(kind, text + " " * (COLUMNS.get(kind, 0) - cell_len(text))))
    over = sum(cell_len(text) + 1 for _, text in parts) - 1 - (width or 0)
    if width is not None and over > 0:
        parts = [
            Segment(kind, _cut(text, max(cell_len(text) - over, NARROW)))
            if kind == "details"
            else Segment(kind, text)
            for kind, text in parts
        ]
    found = Text(" ").join(Text(text, STYLES[kind]) for kind, text in parts)
    if width is not None:
        found.truncate(width, overflow="ellipsis")
    return found


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def show(console: Console, exchange: Exchange, context: Context | None = None) -> None:
    """Print the line of an exchange: as wide as the terminal, or all of it if there is none."""
    width = console.width if console.is_terminal else None
    console.print(line(exchange, width, context=context), soft_wrap=True)


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


def rules_table(rules: Iterable[Rule]) -> Table:
    """The closing table of rules; one that never fired stands out."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("rule")
    table.add_column("matched", justify="right")
    table.add_column("fired", justify="right")
    table.add_column("what")
    for rule in rules:
        table.add_row(
            Text(printable(rule.name), "magenta" if rule.fired else "yellow"),
            str(rule.matched),
            str(rule.fired),
            Text(printable(rule.what)),
        )
    return table
