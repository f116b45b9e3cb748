"""What goes to the terminal: exchanges and results to stdout, lines for the person to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console

from barnabas import show
from captures.context import Context
from captures.exchange import Exchange
from captures.inside import inside
from captures.writer import CaptureWriter
from proxy.rules import Rules
from proxy.server import Proxy
from specs import NAMES


@dataclass(slots=True)
class Output:
    """The two streams; colours only where there is a terminal, and not if NO_COLOR is set."""

    out: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    err: Console = field(
        default_factory=lambda: Console(stderr=True, highlight=False, soft_wrap=True)
    )
    context: Context = field(default_factory=Context)
    undecoded: int = 0
    """Exchanges with a body that no schema reads."""
    flag: Callable[[Exchange], None] = lambda _: None
    """Called with each of those."""

    def exchange(self, exchange: Exchange) -> None:
        """An exchange as one line."""
        self._look(exchange)
        show.show(self.out, exchange, self.context.topics)

    def _look(self, exchange: Exchange) -> None:
        self.context.learn(exchange)
        if exchange.key in NAMES and exchange.undecodable:
            self.undecoded += 1
            self.flag(exchange)

    def json(self, exchange: Exchange) -> None:
        """An exchange as one line of JSON, with what hides inside its bytes if there is anything."""
        self._look(exchange)
        hidden = inside(exchange, self.context)
        row = exchange.row() | ({"inside": hidden} if hidden else {})
        self.raw(json.dumps(row, ensure_ascii=False, separators=(",", ":")))

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
        facts = [f"{totals.connections} connections"]
        if totals.refused:
            facts.append(f"{totals.refused} closed because the broker could not be reached")
        undecoded = totals.undecoded + self.undecoded
        if undecoded:
            facts.append(f"{undecoded} frames passed on undecoded")
        if lost:
            facts.append(f"{lost} exchanges not printed: the terminal was too slow")
        self.note(", ".join(facts))
        if capture is not None:
            self.note(capture_line(capture))


def capture_line(capture: CaptureWriter) -> str:
    """What is in the capture file, and what is not."""
    stats = capture.stats
    line = f"capture: {capture.path}, {stats.packets} packets, {stats.bytes} bytes"
    if stats.stopped:
        line += f"; stopped: {stats.stopped}"
    if stats.lost_packets:
        line += f"; lost {stats.lost_packets} packets with {stats.lost_bytes} bytes"
    return line
