"""What goes to the terminal: exchanges and results to stdout, lines for the person to stderr."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange, with_bodies
from barnabas.captures.kafka.filters import Filter
from barnabas.captures.kafka.json_line import json_line
from barnabas.captures.kafka.wording import printable
from barnabas.captures.values.value import Values
from barnabas.captures.writing.writer import CaptureState
from barnabas.cli.console import show, tables
from barnabas.cli.console.folding import Folded
from barnabas.cli.console.painting import write
from barnabas.cli.console.terminal import Terminal
from barnabas.plural import plural
from barnabas.specs import NAMES
from barnabas.specs.jsonform import Blob, base64_text

if TYPE_CHECKING:
    from barnabas.proxy.network.report import Report


@dataclass(slots=True)
class Output:
    """The two streams."""

    out: Terminal = field(default_factory=Terminal)
    err: Terminal = field(default_factory=lambda: Terminal(stderr=True))
    context: Context = field(default_factory=Context)
    columns: show.Columns = field(default_factory=show.Columns)
    blob: Blob = base64_text
    """How bytes are written in JSON: see `barnabas.cli.console.options.Bodies`."""
    values: Values | None = None
    """How keys and values of records are decoded, where JSON is to have them (`--values`, `--schemas`)."""
    at_once: bool = True
    """Whether a line leaves when it is written; else with the next ones, or by `flush`."""
    passes: Filter | None = None
    """Which exchanges are printed (`--filter`); None: all. All are counted."""
    traced: Callable[[Exchange], None] | None = None
    """Called with each that passes, whether or not it is folded (`--otlp`)."""
    folded: Folded | None = None
    """Where exchanges are counted that say nothing (`--quiet-fetches`); None: they are printed."""
    hidden: int = 0
    """Exchanges that were not printed because they did not pass."""
    undecoded: int = 0
    """Exchanges with a body that no schema reads."""
    too_large: int = 0
    """Exchanges with a body that is not decoded, as it would take too much memory."""
    flag: Callable[[Exchange], None] = lambda _: None
    """Called with each of those."""
    _width: int | None = 0
    """Of lines that leave together: the terminal's, None without one, 0 until it is asked for."""

    def fold(self, wanted: bool | None) -> None:
        """Leave out exchanges that say nothing. None, if nobody said: on a terminal, where nobody
        filters."""
        if wanted or (wanted is None and self.out.is_terminal and self.passes is None):
            self.folded = Folded()

    def exchange(self, exchange: Exchange) -> None:
        """An exchange as one line, if it passes."""
        if self.look(exchange):
            if self._width == 0:
                self._width = show.width_of(self.out)
            write(
                self.out,
                show.line(show.shown(exchange, self.context), self._width, self.columns),
            )
            self._written(self.out.file)

    def learning(self, show: Callable[[Exchange], None]) -> Callable[[Exchange], None]:
        """Shows an exchange that the context does not know yet, as they come while traffic passes."""

        def learn_and_show(exchange: Exchange) -> None:
            self.context.learn(with_bodies(exchange))
            show(exchange)

        return learn_and_show

    def look(self, exchange: Exchange) -> bool:
        """Count an exchange; whether it is to be printed."""
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
        """An exchange as one line of JSON, if it passes."""
        if self.look(exchange):
            self.raw(self.row(exchange))

    def row(self, exchange: Exchange) -> str:
        """The line of JSON for an exchange that was learnt from."""
        return json_line(exchange, self.context, self.blob, self.values)

    def line(self, text: str) -> None:
        """A line of results for the person."""
        self.raw(printable(text))

    def raw(self, text: str) -> None:
        """A line as it is, for a program."""
        sys.stdout.write(text + "\n")
        self._written(sys.stdout)

    def segments(self, parts: Sequence[show.Segment]) -> None:
        """A line of segments."""
        write(self.out, parts)
        self._written(self.out.file)

    def ready(self, text: str) -> None:
        """A line for a program that waits for it."""
        self.raw(text)
        self.flush()

    def _written(self, file: IO[str]) -> None:
        if self.at_once:
            self._width = 0
            file.flush()

    def flush(self) -> None:
        """Write what waits for more. Raises OSError."""
        self._width = 0
        sys.stdout.flush()
        self.out.file.flush()

    def gather(self) -> None:
        """From now on lines leave when there are many, or by `flush`; on a terminal, too."""
        self.at_once = False
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=False)

    @contextmanager
    def batches(self) -> Iterator[None]:
        """Within, lines leave when there are many; all of them in the end, whatever it is."""
        self.gather()
        try:
            yield
        finally:
            self.at_once = True
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
            self.flush()

    def note(self, text: str) -> None:
        """A line for the person."""
        self.err.print(
            printable(text),
            style="bold red"
            if text.startswith("WARNING:")
            else "dim"
            if text.startswith(("edit:", "memory:", "tls:", "mask:"))
            else None,
        )

    def remarks(self) -> list[str]:
        """How much was not shown, and why."""
        said = []
        if self.too_large:
            said.append(f"{plural(self.too_large, 'exchange')} with a body too large to decode")
        if self.hidden:
            said.append(f"{plural(self.hidden, 'exchange')} not shown: --filter")
        if self.folded is not None and self.folded.said:
            said.append(self.folded.said)
        if self.context.forgotten:
            said.append(f"{self.context.forgotten} topics, groups or sessions forgotten: too many")
        return said

    def summary(self, report: Report, remarks: Iterable[str] = (), undecoded: int = 0) -> None:
        """What passed, what each rule did, what was lost, where the capture is.

        remarks, undecoded: of who has shown the exchanges.
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
        said = [plural(totals.connections, "connection")]
        if totals.unreachable:
            said.append(f"{totals.unreachable} closed because the broker could not be reached")
        if totals.lost:
            said.append(
                f"{totals.lost} lost with workers that ended (what passed in their last second may be "
                "missing from these tables and the capture)"
            )
        undecoded += totals.undecoded
        if undecoded:
            said.append(f"{plural(undecoded, 'frame')} undecodable, forwarded unchanged")
        if totals.withheld:
            said.append(
                f"{plural(totals.withheld, 'response')} withheld, with the connection closed"
            )
        said += remarks
        self.note(", ".join(said))
        if report.capture is not None:
            self.note(capture_line(report.capture))


def capture_line(capture: CaptureState) -> str:
    """What is in the capture file, and what is not."""
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
