"""What can go wrong with real brokers; each message says what to do, or what the broker said."""

from __future__ import annotations

from typing import Final

LINES: Final = 12
"""Lines of a log that are told."""

_STACK: Final = ("\tat ", "\t... ")
"""How lines of Java's stack traces begin; the reason stands above them."""


class UnknownVersionError(ValueError):
    """The text names no version of Apache Kafka that can be had."""


class UnavailableError(RuntimeError):
    """Java, the artifacts, or what downloads them is missing."""


class BootError(RuntimeError):
    """A JVM ended, or did not answer in time; the last lines of its log are part of the message."""

    def __init__(self, line: str, said: str) -> None:
        told = [one for one in said.splitlines() if not one.startswith(_STACK)][-LINES:]
        super().__init__("\n  ".join([line, *told]))
        self.said = said
        """All that it printed since it was started."""
