"""`barnabas summary`: what a capture comes to, by API, client, connection, broker and topic."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from barnabas.capture_input import earlier, exchanges, opened, remarks, watched
from barnabas.output import Output
from barnabas.parsing import parse_filter
from barnabas.show import ms
from barnabas.trouble import FINE, Trouble
from captures.conversations import Conversations
from captures.exchange import iso
from captures.overview import KINDS, Overview, Row
from captures.tls.keylog import KeyLog
from captures.wording import plural, printable, ranges, size

MOST = 20
"""Rows of a kind that a person is shown, unless told otherwise."""


def summary(
    paths: Sequence[Path],
    by: tuple[str, ...],
    *,
    only: str | None = None,
    most: int = MOST,
    as_json: bool = False,
    keys: KeyLog | None = None,
    output: Output | None = None,
) -> int:
    """Print the tables; returns the exit code. Raises Trouble.

    by: names of `captures.overview.KINDS`, all if empty. only: a condition on exchanges. most: rows of
    each table; JSON has all.
    """
    for name in by:
        if name not in KINDS:
            raise Trouble(f"--by {name}: one of {', '.join(KINDS)}")
    output = output or Output()
    passes = None if only is None else parse_filter(only, output.context.topics)
    overview = Overview(by or KINDS)
    conversations = Conversations(inferred=True)
    reader = opened(*paths, keys=keys)
    for exchange in exchanges(reader, watched(reader, output, "reading"), conversations):
        output.learn(exchange)
        if passes is None or passes(exchange):
            overview.note(exchange, output.context)
    if as_json:
        output.raw(json.dumps(_document(overview, conversations), ensure_ascii=False))
        return FINE
    said = plural(overview.count, "exchange")
    if overview.count:
        said += f", {iso(overview.first)} to {iso(overview.last)}"
    output.out.print(said)
    for name in overview.tables:
        rows = overview.rows(name)
        if rows:
            output.out.print()
            output.out.print(_table(name, rows[:most]))
        if len(rows) > most:
            output.out.print(f"... and {len(rows) - most} more: --most {len(rows)}")
    for remark in remarks(reader):
        output.note(remark)
    if conversations.earlier:
        output.note(earlier(conversations))
    if conversations.skipped:
        output.note(f"{conversations.skipped} bytes could not be taken apart into frames")
    return FINE


def _document(overview: Overview, conversations: Conversations) -> dict[str, object]:
    return {
        "exchanges": overview.count,
        "from": iso(overview.first) if overview.count else None,
        "to": iso(overview.last) if overview.count else None,
        "skipped_bytes": conversations.skipped,
        **{
            name: {label: row.document() for label, row in overview.rows(name)}
            for name in overview.tables
        },
    }


def _table(by: str, rows: list[tuple[str, Row]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(by, overflow="fold")
    for name in ("count", "p50 ms", "p99 ms", "max ms", "in", "out"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("errors", style="red")
    table.add_column("versions" if by == "api" else "software" if by != "topic" else "")
    for label, row in rows:
        latencies = (row.percentile_ms(0.5), row.percentile_ms(0.99), row.percentile_ms(1))
        table.add_row(
            Text(printable(label)),
            str(row.count),
            *("-" if latency is None else ms(latency)[:-3] for latency in latencies),
            size(row.request_bytes),
            size(row.response_bytes),
            Text(_errors(row)),
            Text(_last(by, label, row)),
        )
    return table


def _errors(row: Row) -> str:
    said = [f"{count} {name}" for name, count in row.errors.most_common(2)]
    if len(row.errors) > 2:
        said.append(f"{len(row.errors) - 2} more")
    return ", ".join(said)


def _last(by: str, label: str, row: Row) -> str:
    if by == "api":
        return f"v{ranges(row.versions[label])}"
    return "" if by == "topic" else printable(", ".join(sorted(row.software)))
