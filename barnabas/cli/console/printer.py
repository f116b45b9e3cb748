"""Prints exchanges until that fails: what is not written from then on is counted, and traffic goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.output import Output
from barnabas.plural import plural


class Printer:
    """Exchanges by `show`, one of the output's ways, and lines for the person. Raises no OSError."""

    def __init__(self, output: Output, show: Callable[[Exchange], None]) -> None:
        self.broken = ""
        """Why no exchange can be printed any more."""
        self.unwritten = 0
        """Exchanges that were not printed for it."""
        self.shown = 0
        """Exchanges since the last `write`."""
        self._output = output
        self._show = show

    def exchange(self, exchange: Exchange) -> None:
        """Print an exchange; it may wait for `write`."""
        self.shown += 1
        if not self.broken:
            try:
                self._show(exchange)
            except OSError as problem:
                self._break(problem)

    def write(self) -> int:
        """Write what waits; how many exchanges were given since the last time."""
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
        """A line for the person, if anybody is there to be told."""
        with contextlib.suppress(OSError):
            self._output.note(text)

    def _break(self, problem: OSError) -> None:
        """Who reads the log is gone, or the disk is full."""
        self.broken = f"stdout: {problem.strerror}"
        self.say(f"{self.broken}; exchanges are not printed any more")


def not_printed(why: Mapping[str, int]) -> list[str]:
    """How many exchanges were not printed, by the reason, in words.

    >>> not_printed({"stdout: Broken pipe": 2, "too slow": 0})
    ['2 exchanges not printed: stdout: Broken pipe']
    """
    return [
        f"{plural(count, 'exchange')} not printed: {what}" for what, count in why.items() if count
    ]
