"""What goes to the terminal: exchanges and results to stdout, lines for the person to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console

from barnabas import show
from captures.context import Context
from captures.context.facts import facts
from captures.exchange import Exchange
from captures.filters import Filter
from captures.inside import inside
from captures.wording import plural
from captures.writer import CaptureWriter
from specs import NAMES

if TYPE_CHECKING:
    from proxy.rules import Rules
    from proxy.server import Proxy


@dataclass(slots=True)
class Output:
    """The two streams; colours only where there is a terminal, and not if NO_COLOR is set."""

    out: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    err: Console = field(
        default_factory=lambda: Console(stderr=True, highlight=False, soft_wrap=True)
    )
    context: Context = field(default_factory=Context)
    passes: Filter | None = None
    """Which exchanges are printed (`--filter`); None: all. All are learnt from and counted."""
    hidden: int = 0
    """Exchanges that were not printed because they did not pass."""
    names_brokers: bool = False
    """Whether exchanges don't say which broker they went to, as in captures of others."""
    undecoded: int = 0
    """Exchanges with a body that no schema reads."""
    flag: Callable[[Exchange], None] = lambda _: None
    """Called with each of those."""

    def exchange(self, exchange: Exchange) -> None:
        """An exchange as one line, if it passes."""
        if self.look(exchange):
            show.show(self.out, exchange, self.context)

    def learn(self, exchange: Exchange) -> None:
        """Learn from an exchange, and name its broker if that is known by now."""
        self.context.learn(exchange)
        if self.names_brokers:
            exchange.broker = self.context.brokers.node(exchange)

    def look(self, exchange: Exchange) -> bool:
        """Learn from an exchange, count it; whether it is to be printed."""
        self.learn(exchange)
        if exchange.key in NAMES and exchange.undecodable:
            self.undecoded += 1
            self.flag(exchange)
        if self.passes is None or self.passes(exchange):
            return True
        self.hidden += 1
        return False

    def json(self, exchange: Exchange) -> None:
        """An exchange as one line of JSON, with what hides inside its bytes, and what it does not
        say itself, if there is anything."""
        if self.look(exchange):
            self.raw(self.row(exchange))

    def row(self, exchange: Exchange) -> str:
        """The line of JSON for an exchange that was learnt from."""
        row = exchange.row()
        for name, found in (
            ("inside", inside(exchange, self.context)),
            ("context", facts(exchange, self.context)),
        ):
            if found:
                row[name] = found
        return json.dumps(row, ensure_ascii=False, separators=(",", ":"))

    def raw(self, text: str) -> None:
        """A line as it is."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    ready = raw

    def note(self, text: str) -> None:
        """A line for the person."""
        self.err.print(
            text,
            style="bold red"
            if text.startswith("WARNING:")
            else "dim"
            if text.startswith(("edit:", "memory:", "tls:", "mask:"))
            else None,
            markup=False,
        )

    def summary(
        self, proxy: Proxy, rules: Rules, lost: int = 0, capture: CaptureWriter | None = None
    ) -> None:
        """What passed, what each rule did, what was lost, where the capture is."""
        self.err.print(show.tally_table(proxy.tally.rows()))
        if rules.rules:
            self.err.print()
            self.err.print(show.rules_table(rules.rules))
        totals = proxy.totals
        said = [f"{totals.connections} connections"]
        if totals.refused:
            said.append(f"{totals.refused} closed because the broker could not be reached")
        undecoded = totals.undecoded + self.undecoded
        if undecoded:
            said.append(f"{undecoded} frames passed on undecoded")
        if self.hidden:
            said.append(f"{self.hidden} exchanges not shown: --filter")
        if self.context.forgotten:
            said.append(f"{self.context.forgotten} topics, groups or sessions forgotten: too many")
        if lost:
            said.append(f"{lost} exchanges not printed: the terminal was too slow")
        self.note(", ".join(said))
        if capture is not None:
            self.note(capture_line(capture))


def capture_line(capture: CaptureWriter) -> str:
    """What is in the capture file, and what is not."""
    stats = capture.stats
    line = f"capture: {capture.path}, {stats.packets} packets, {stats.bytes} bytes"
    if stats.segments:
        line += f" in {plural(stats.segments, 'segment')}"
    if stats.stopped:
        line += f"; stopped: {stats.stopped}"
    if stats.lost_packets:
        line += f"; lost {stats.lost_packets} packets with {stats.lost_bytes} bytes"
    return line
