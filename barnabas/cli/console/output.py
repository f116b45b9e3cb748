"""The output of a command: results go to stdout, notes for the user to stderr."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange, with_bodies
from barnabas.captures.kafka.filters import FAILED, Filter, exchange_filter
from barnabas.captures.kafka.json_line import json_line
from barnabas.captures.kafka.wording import printable
from barnabas.captures.values.value import Values
from barnabas.captures.writing.writer import CaptureState
from barnabas.cli.console import show, tables
from barnabas.cli.console.folding import Folded
from barnabas.cli.console.layout import Columns, Segment
from barnabas.cli.console.painting import write
from barnabas.cli.console.parsing import parse_filter
from barnabas.cli.console.terminal import Terminal
from barnabas.plural import plural
from barnabas.specs import NAMES
from barnabas.specs.jsonform import Blob, base64_text

if TYPE_CHECKING:
    from barnabas.captures.checks.retries import Retries
    from barnabas.proxy.network.report import Report


@dataclass(slots=True)
class Output:
    """The stdout and stderr of a command, with the settings and counters of the exchanges that it prints."""

    out: Terminal = field(default_factory=Terminal)
    err: Terminal = field(default_factory=lambda: Terminal(stderr=True))
    context: Context = field(default_factory=Context)
    columns: Columns = field(default_factory=Columns)
    retries: Retries | None = None
    """Recognises retries, which only a terminal shows; None: not needed so far."""
    blob: Blob = base64_text
    """Writes a bytes field in JSON: see `barnabas.cli.console.options.Bodies`."""
    values: Values | None = None
    """Decodes keys and values of records for JSON (`--values`, `--schemas`); None: they are left out."""
    at_once: bool = True
    """Whether each line is flushed; else lines are buffered until there are many, or until `flush`."""
    passes: Filter | None = None
    """Selects the exchanges that are printed (`--filter`); None: all. All are counted."""
    selected_by: str = ""
    """The options that select them, for the note on those that are not printed."""
    traced: Callable[[Exchange], None] | None = None
    """Called with each exchange that passes the filter, even if it is folded (`--otlp`)."""
    folded: Folded | None = None
    """Counts and hides frequent exchanges without content (`--quiet-fetches`); None: they are printed."""
    hidden: int = 0
    """Exchanges that were not printed because they did not pass the filter."""
    undecoded: int = 0
    """Exchanges with a body that could not be decoded."""
    too_large: int = 0
    """Exchanges with a body that would take too much memory to decode."""
    flag: Callable[[Exchange], None] = lambda _: None
    """Called with each exchange whose body could not be decoded."""
    _width: int | None = 0
    """The cells of a line: the terminal's width, None without a terminal, 0 until it is looked up."""

    def fold(self, quiet: bool | None) -> None:
        """Hide ApiVersions and Fetches without records.

        quiet: Whether to hide them; None: only on a terminal and without a filter.
        """
        if quiet or (quiet is None and self.out.is_screen and self.passes is None):
            self.folded = Folded()

    def select(self, condition: str | None, *, errors: bool = False) -> None:
        """Print only exchanges that pass. Raises Trouble if the condition is invalid.

        Args:
            condition: The condition of `--filter`.
            errors: Whether only failed exchanges pass (`--follow-errors`).
        """
        filters = [exchange_filter(FAILED)] if errors else []
        if condition is not None:
            filters.append(parse_filter(condition, self.context.topics, self.note))
        if filters:
            self.passes = lambda exchange: all(passes(exchange) for passes in filters)
        options = ("--follow-errors", errors), ("--filter", condition is not None)
        self.selected_by = " and ".join(option for option, given in options if given)

    def exchange(self, exchange: Exchange) -> None:
        """Print an exchange as one line, if it passes the filter."""
        if self._width == 0:
            self._width = show.width_of(self.out)
        retry = 0 if self._width is None else self._retry(exchange)
        if self.look(exchange):
            log_line = show.log_line_of(exchange, self.context, retry)
            write(self.out, show.line(log_line, self._width, self.columns))
            self._written(self.out.file)

    def _retry(self, exchange: Exchange) -> int:
        """Return how often the client has sent the same request before, in vain."""
        if self.retries is None:
            from barnabas.captures.checks.retries import Retries  # this module loads slowly

            self.retries = Retries()
        return self.retries.count(exchange, self.context)

    def learning(self, show: Callable[[Exchange], None]) -> Callable[[Exchange], None]:
        """Return a function that adds an exchange to the context, then shows it.

        It is for live traffic, whose exchanges the context has not read before.
        """

        def learn_and_show(exchange: Exchange) -> None:
            self.context.learn(with_bodies(exchange))
            show(exchange)

        return learn_and_show

    def look(self, exchange: Exchange) -> bool:
        """Count an exchange and return whether to print it."""
        undecodable = exchange.key in NAMES and exchange.undecodable
        if exchange.too_large:
            self.too_large += 1
        elif undecodable:
            self.undecoded += 1
            self.flag(exchange)
        if self.passes is not None and not self.passes(exchange):
            self.hidden += 1
            return False
        if self.traced is not None:
            self.traced(exchange)
        return self.folded is None or not self.folded.takes(exchange)

    def json(self, exchange: Exchange) -> None:
        """Print an exchange as one line of JSON, if it passes the filter."""
        if self.look(exchange):
            self.raw(self.row(exchange))

    def row(self, exchange: Exchange) -> str:
        """Return an exchange that is in the context as a line of JSON."""
        return json_line(exchange, self.context, self.blob, self.values)

    def line(self, text: str) -> None:
        """Print a line of results, without characters that steer a terminal."""
        self.raw(printable(text))

    def raw(self, text: str) -> None:
        """Print a line of results unchanged."""
        sys.stdout.write(text + "\n")
        self._written(sys.stdout)

    def segments(self, parts: Sequence[Segment]) -> None:
        """Print the segments of a line in colours."""
        write(self.out, parts)
        self._written(self.out.file)

    def ready(self, text: str) -> None:
        """Print the line that a waiting program reads, and flush it."""
        self.raw(text)
        self.flush()

    def _written(self, file: IO[str]) -> None:
        if self.at_once:
            self._width = 0
            file.flush()

    def flush(self) -> None:
        """Write buffered lines. Raises OSError."""
        self._width = 0
        sys.stdout.flush()
        self.out.file.flush()

    def gather(self) -> None:
        """Buffer lines from now on, even on a terminal; `flush` writes them."""
        self.at_once = False
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=False)

    @contextmanager
    def batches(self) -> Iterator[None]:
        """Buffer lines within `with`; write the remaining ones at its end, even after an exception."""
        self.gather()
        try:
            yield
        finally:
            self.at_once = True
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
            self.flush()

    def note(self, text: str) -> None:
        """Print a note on stderr, in the colour of its kind."""
        self.err.print(
            printable(text),
            style="bold red"
            if text.startswith("WARNING:")
            else "dim"
            if text.startswith(("edit:", "memory:", "tls:", "mask:"))
            else None,
        )

    def remarks(self) -> list[str]:
        """Return notes on exchanges that were hidden or not decoded, and on forgotten names."""
        notes = []
        if self.too_large:
            notes.append(f"{plural(self.too_large, 'exchange')} with a body too large to decode")
        if self.hidden:
            notes.append(f"{plural(self.hidden, 'exchange')} not shown: {self.selected_by}")
        if self.folded is not None and self.folded.note:
            notes.append(self.folded.note)
        if self.context.forgotten:
            notes.append(f"{self.context.forgotten} topics, groups or sessions forgotten: too many")
        return notes

    def summary(self, report: Report, remarks: Iterable[str] = (), undecoded: int = 0) -> None:
        """Print the closing tables of a proxy, its totals, and the state of its capture.

        Args:
            report: The proxy's counters.
            remarks: Further notes on the totals.
            undecoded: Frames that the log could not decode, in addition to the report's.
        """
        self.err.show_table(tables.tally_table(report.tally.rows()))
        if report.rules:
            self.err.print()
            rows = (
                tables.RuleRow(rule.name, rule.matched, rule.fired, rule.unclear, rule.what)
                for rule in report.rules
            )
            self.err.show_table(tables.rules_table(rows))
        totals = report.totals
        totals_text = [plural(totals.connections, "connection")]
        if totals.unreachable:
            totals_text.append(
                f"{totals.unreachable} closed because the broker could not be reached"
            )
        if totals.lost:
            totals_text.append(
                f"{totals.lost} lost with workers that ended (their last second may be missing "
                f"from these tables and the capture)"
            )
        undecoded += totals.undecoded
        if undecoded:
            totals_text.append(f"{plural(undecoded, 'frame')} undecodable, forwarded unchanged")
        if totals.withheld:
            totals_text.append(
                f"{plural(totals.withheld, 'response')} withheld, with the connection closed"
            )
        totals_text += remarks
        self.note(", ".join(totals_text))
        if report.capture is not None:
            self.note(capture_line(report.capture))


def capture_line(capture: CaptureState) -> str:
    """Return a line on a capture: its size, why it stopped, and how much it lost."""
    stats = capture.stats
    line = (
        f"capture: {capture.path}, {plural(stats.packets, 'packet')}, {plural(stats.bytes, 'byte')}"
    )
    if stats.segments:
        line += f" in {plural(stats.segments, 'segment')}"
    if stats.stopped:
        line += f"; stopped: {stats.stopped}"
    if stats.lost_packets:
        line += (
            f"; lost {plural(stats.lost_packets, 'packet')} with {plural(stats.lost_bytes, 'byte')}"
        )
    return line
