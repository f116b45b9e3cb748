"""Prints exchanges until stdout fails; later exchanges are counted as not printed, and traffic goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.output import Output
from barnabas.plural import plural


class Printer:
    """The printer of a proxy's log, which survives a full disk and a closed pipe. It raises no OSError.

    show: A method of the output that prints an exchange.
    """

    def __init__(self, output: Output, show: Callable[[Exchange], None]) -> None:
        self.broken = ""
        """Why exchanges are not printed any more; empty: they are."""
        self.unwritten = 0
        """Exchanges that were not printed for this reason."""
        self.shown = 0
        """Exchanges since the last `write`."""
        self._output = output
        self._show = show

    def exchange(self, exchange: Exchange) -> None:
        """Print an exchange, which may be buffered until `write`."""
        self.shown += 1
        if not self.broken:
            try:
                self._show(exchange)
            except OSError as problem:
                self._break(problem)

    def write(self) -> int:
        """Write buffered lines; return the number of exchanges since the last call."""
        if not self.broken:
            try:
                self._output.flush()
            except OSError as problem:
                self._break(problem)
        if self.broken:
            self.unwritten += self.shown
        count, self.shown = self.shown, 0
        return count

    def say(self, text: str) -> None:
        """Print a note for the user, if stderr is open."""
        with contextlib.suppress(OSError):
            self._output.note(text)

    def _break(self, problem: OSError) -> None:
        """Stop printing: the reader of the log has closed it, or the disk is full."""
        self.broken = f"stdout: {problem.strerror}"
        self.say(f"{self.broken}; exchanges are not printed any more")


def not_printed(counts: Mapping[str, int]) -> list[str]:
    """Return a line for each reason why exchanges were not printed, with their number.

    >>> not_printed({"stdout: Broken pipe": 2, "too slow": 0})
    ['2 exchanges not printed: stdout: Broken pipe']
    """
    return [
        f"{plural(count, 'exchange')} not printed: {reason}"
        for reason, count in counts.items()
        if count
    ]
