"""`barnabas summary`: totals of a capture by API, client, connection, broker, topic and group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from barnabas.captures.capture import Capture
from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import printable
from barnabas.captures.summary.rebalances import Rebalances
from barnabas.captures.summary.summary import KINDS, Summary
from barnabas.captures.summary.transactions import Transactions
from barnabas.cli.captures.input import bar, opened, read, spoken
from barnabas.cli.captures.options import GROUP, TRANSACTION, SummaryOptions
from barnabas.cli.captures.remarks import left_over, remarks
from barnabas.cli.captures.summary_tables import (
    NARROW,
    groups_lines,
    groups_table,
    totals_table,
    transactions_table,
)
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter
from barnabas.plural import plural
from barnabas.trouble import FINE


def summary(options: SummaryOptions, output: Output | None = None) -> int:
    """Print the tables; returns the exit code. Raises Trouble."""
    output = output or Output()
    context = output.context
    only = options.only
    passes = None if only is None else parse_filter(only, context.topics, output.note)
    capture = opened(*options.files, keys=read_keys(options.tls_keys), context=context)
    protocol = spoken(capture, options.dialect)
    parts = [*_parts(options.by, capture)]
    progress = bar(output, "reading")
    exchanges = capture.learn(capture.exchanges(progress, inferred=True, spoken=protocol))
    for exchange in read(capture, exchanges, output):
        if passes is None or passes(exchange):
            for part in parts:
                part.add(exchange)
    if options.as_json:
        document: dict[str, object] = {}
        for part in parts:
            document |= part.document()
        output.raw(json_text(document))
        return FINE
    for part in parts:
        part.print(output, options.most)
    for remark in (*remarks(capture, protocol), *left_over(capture.conversations)):
        output.note(remark)
    return FINE


class Part(Protocol):
    """A table or several of a summary."""

    def add(self, exchange: Exchange) -> None:
        """Count an exchange."""

    def document(self) -> Mapping[str, object]:
        """Return all rows, as JSON has them."""

    def print(self, output: Output, most: int) -> None:
        """Print the first rows of each table."""


def _parts(by: Sequence[str], capture: Capture) -> Iterator[Part]:
    yield _Tables(by or KINDS, capture)
    if GROUP in (by or (GROUP,)):
        yield _Groups()
    if TRANSACTION in by:
        yield _Transactions(capture.context)


class _Tables:
    """The tables of totals by each key, and the overall totals."""

    def __init__(self, by: Sequence[str], capture: Capture) -> None:
        self._overview = Summary(by)
        self._capture = capture

    def add(self, exchange: Exchange) -> None:
        self._overview.note(exchange, self._capture.context)

    def document(self) -> Mapping[str, object]:
        overview = self._overview
        return {
            "exchanges": overview.count,
            "from": iso(overview.first) if overview.count else None,
            "to": iso(overview.last) if overview.count else None,
            "skipped_bytes": self._capture.conversations.skipped,
            **{
                name: {label: row.document() for label, row in overview.rows(name)}
                for name in overview.tables
            },
        }

    def print(self, output: Output, most: int) -> None:
        overview = self._overview
        totals = plural(overview.count, "exchange")
        if overview.count:
            totals += f", {iso(overview.first)} to {iso(overview.last)}"
        output.out.print(totals)
        for name in overview.tables:
            rows = overview.rows(name)
            if rows:
                output.out.print()
                output.out.show_table(totals_table(name, rows[:most], output.out.width))
            _more(output, len(rows), most)


class _Groups:
    """The generations of groups."""

    def __init__(self) -> None:
        self._rebalances = Rebalances()

    def add(self, exchange: Exchange) -> None:
        self._rebalances.note(exchange)

    def document(self) -> Mapping[str, object]:
        return {GROUP: self._rebalances.finish()}

    def print(self, output: Output, most: int) -> None:
        rows = self._rebalances.finish()
        if not rows:
            return
        output.out.print()
        if output.out.width < NARROW:
            for line in groups_lines(rows[:most]):
                output.out.print(printable(line))
        else:
            output.out.show_table(groups_table(rows[:most]))
        _more(output, self._rebalances.count, most)


class _Transactions:
    """The transactions of producers."""

    def __init__(self, context: Context) -> None:
        self._transactions = Transactions(context)

    def add(self, exchange: Exchange) -> None:
        self._transactions.add(exchange)

    def document(self) -> Mapping[str, object]:
        return {TRANSACTION: self._transactions.rows()}

    def print(self, output: Output, most: int) -> None:
        rows = self._transactions.rows()
        if not rows:
            return
        output.out.print()
        output.out.show_table(transactions_table(rows[:most]))
        _more(output, len(rows), most)
        if self._transactions.forgotten:
            output.note(f"{plural(self._transactions.forgotten, 'transaction')} not kept: too many")


def _more(output: Output, count: int, most: int) -> None:
    """Print how many rows a table leaves out."""
    if count > most:
        output.out.print(f"... and {count - most} more: --most {count}")
