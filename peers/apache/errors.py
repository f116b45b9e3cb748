"""Errors of real brokers; each message has a remedy, or the broker's output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

LINES: Final = 12
"""Lines of a log in an error message."""

_STACK: Final = ("\tat ", "\t... ")
"""Prefixes of the lines of Java's stack traces, which follow the reason."""


class UnknownVersionError(ValueError):
    """The text names no version of Apache Kafka that can be had."""


class UnavailableError(RuntimeError):
    """Java, the artifacts, or what downloads them is missing."""


_NAMED: Final = re.compile(
    r"(?:Exception in thread \"[^\"]*\" )?\b(?:\w+\.)+\w*(?:Exception|Error): (.+)"
)
"""An exception that Java prints with its class and message."""

_GENERAL: Final = "Error: "
"""The prefix of the general lines that follow the reason why a JVM does not start."""


class BootError(RuntimeError):
    """A JVM ended, or did not answer in time; the last lines of its log are part of the message."""

    def __init__(self, line: str, output: str) -> None:
        lines = [text for text in output.splitlines() if not text.startswith(_STACK)][-LINES:]
        super().__init__("\n  ".join([line, *lines]))
        self.line = f"{line.partition(';')[0]}: {_reason(lines)}" if lines else line
        """The message in one line: the event and its printed reason."""
        self.output = output
        """The output since the process's start."""


def _reason(lines: Sequence[str]) -> str:
    """Return the reason for an exit from the last lines: the first exception, else the JVM's error.

    >>> _reason(['Exception in thread "main" a.b.ConfigException: Invalid value'])
    'Invalid value'
    >>> _reason(["Unrecognized VM option 'Nonsense'", "Error: Could not create the Java Virtual Machine."])
    "Unrecognized VM option 'Nonsense'"
    """
    for line in lines:
        match = _NAMED.search(line)
        if match is not None:
            return match[1] if match.start() == 0 else line
    jvm_errors = [line for line in lines if not line.startswith(_GENERAL)]
    return "; ".join((jvm_errors or lines)[-2:])
