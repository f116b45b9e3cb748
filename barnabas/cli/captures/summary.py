"""`barnabas summary`: what a capture comes to, by API, client, connection, broker, topic and group."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.wording import printable, ranges, size
from barnabas.captures.summary.rebalances import Rebalances
from barnabas.captures.summary.summary import KINDS, Row, Summary
from barnabas.captures.summary.transactions import Transactions
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.input import bar, opened, read, spoken
from barnabas.cli.captures.remarks import left_over, remarks
from barnabas.cli.captures.summary_groups import groups_lines, groups_table
from barnabas.cli.captures.summary_transactions import transactions_table
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter
from barnabas.cli.console.show import ms
from barnabas.nearest import choices
from barnabas.plural import plural
from barnabas.trouble import FINE, Trouble

NARROW = 110
"""On a terminal with fewer cells than these, errors stand below what they are of."""

GROUP = "group"
"""What rows may be by beside `barnabas.captures.summary.summary.KINDS`: a row is a generation then."""

TRANSACTION = "transaction"
"""The same: a row is a transaction then. Only if it is asked for."""

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
    dialect: str | None = None,
    output: Output | None = None,
) -> int:
    """Print the tables; returns the exit code. Raises Trouble.

    by: names of `barnabas.captures.summary.summary.KINDS`, GROUP or TRANSACTION, all but that one if empty.
    only: a condition on exchanges. most: rows of each table; JSON has all. dialect: its name, if the
    scenario does not say it.
    """
    kinds = (*KINDS, GROUP, TRANSACTION)
    for name in by:
        if name not in kinds:
            raise Trouble(f"--by {name}: that is unknown{choices(name, kinds)}")
    output = output or Output()
    passes = None if only is None else parse_filter(only, output.context.topics, output.note)
    overview = Summary(by or KINDS)
    rebalances = Rebalances() if GROUP in (by or (GROUP,)) else None
    transactions = Transactions(output.context) if TRANSACTION in by else None
    capture = opened(*paths, keys=keys, context=output.context)
    protocol = spoken(capture, dialect)
    progress = bar(output, "reading")
    found = capture.learn(capture.exchanges(progress, inferred=True, spoken=protocol))
    for exchange in read(capture, found, output):
        if passes is None or passes(exchange):
            overview.note(exchange, output.context)
            if rebalances is not None:
                rebalances.note(exchange)
            if transactions is not None:
                transactions.add(exchange)
    generations = None if rebalances is None else rebalances.finish()
    if as_json:
        document = _document(overview, capture.conversations)
        if generations is not None:
            document[GROUP] = generations
        if transactions is not None:
            document[TRANSACTION] = transactions.rows()
        output.raw(json_text(document))
        return FINE
    said = plural(overview.count, "exchange")
    if overview.count:
        said += f", {iso(overview.first)} to {iso(overview.last)}"
    output.out.print(said)
    for name in overview.tables:
        rows = overview.rows(name)
        if rows:
            output.out.print()
            output.out.show_table(_table(name, rows[:most], output.out.width))
        _more(output, len(rows), most)
    if rebalances is not None and generations:
        output.out.print()
        if output.out.width < NARROW:
            for line in groups_lines(generations[:most]):
                output.out.print(printable(line))
        else:
            output.out.show_table(groups_table(generations[:most]))
        _more(output, rebalances.count, most)
    if transactions is not None and (found_rows := transactions.rows()):
        output.out.print()
        output.out.show_table(transactions_table(found_rows[:most]))
        _more(output, len(found_rows), most)
        if transactions.forgotten:
            output.note(f"{plural(transactions.forgotten, 'transaction')} not kept: too many")
    for remark in (*remarks(capture, protocol), *left_over(capture.conversations)):
        output.note(remark)
    return FINE


def _more(output: Output, count: int, most: int) -> None:
    """How many rows a table leaves out."""
    if count > most:
        output.out.print(f"... and {count - most} more: --most {count}")


def _document(overview: Summary, conversations: Conversations) -> dict[str, object]:
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


def _table(by: str, rows: list[tuple[str, Row]], width: int) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(by)
    for name in ("count", "p50 ms", "p99 ms", "max ms", "in", "out"):
        table.add_column(name, justify="right", no_wrap=True)
    if width >= NARROW:
        table.add_column("errors")
        table.add_column("versions" if by == "api" else "software" if by != "topic" else "")
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
