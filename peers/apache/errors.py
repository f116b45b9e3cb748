"""What can go wrong with real brokers; each message says what to do, or what the broker said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

LINES: Final = 12
"""Lines of a log that are told."""

_STACK: Final = ("\tat ", "\t... ")
"""How lines of Java's stack traces begin; the reason stands above them."""


class UnknownVersionError(ValueError):
    """The text names no version of Apache Kafka that can be had."""


class UnavailableError(RuntimeError):
    """Java, the artifacts, or what downloads them is missing."""


_NAMED: Final = re.compile(
    r"(?:Exception in thread \"[^\"]*\" )?\b(?:\w+\.)+\w*(?:Exception|Error): (.+)"
)
"""An exception that Java prints with its class, and what it says."""

_GENERAL: Final = "Error: "
"""How lines begin that a JVM has behind each reason why it does not start."""


class BootError(RuntimeError):
    """A JVM ended, or did not answer in time; the last lines of its log are part of the message."""

    def __init__(self, line: str, said: str) -> None:
        told = [one for one in said.splitlines() if not one.startswith(_STACK)][-LINES:]
        super().__init__("\n  ".join([line, *told]))
        self.line = f"{line.partition(';')[0]}: {_reason(told)}" if told else line
        """The same in one line: what happened, and the reason that was printed."""
        self.said = said
        """All that it printed since it was started."""


def _reason(told: Sequence[str]) -> str:
    r"""Why something ended, in what it printed last: the first exception, else the JVM's own words.

    >>> _reason(['Exception in thread "main" a.b.ConfigException: Invalid value'])
    'Invalid value'
    >>> _reason(["Unrecognized VM option 'Nonsense'", "Error: Could not create the Java Virtual Machine."])
    "Unrecognized VM option 'Nonsense'"
    """
    for line in told:
        found = _NAMED.search(line)
        if found is not None:
            return found[1] if found.start() == 0 else line
    own = [line for line in told if not line.startswith(_GENERAL)]
    return "; ".join((own or told)[-2:])
