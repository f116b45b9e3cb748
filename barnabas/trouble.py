"""Errors that end a command: one line with a remedy, and an exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FINE: Final = 0
FINDINGS: Final = 1
MISUSE: Final = 2
COULD_NOT_RUN: Final = 3
INTERRUPTED: Final = 130  # equal to that of `entry`, which imports nothing


class Trouble(Exception):
    """An error that ends the program with a line on stderr and an exit code, without a traceback."""

    def __init__(self, line: str, code: int = MISUSE) -> None:
        super().__init__(line)
        self.code = code


@contextmanager
def os_errors(label: str, code: int = MISUSE) -> Iterator[None]:
    """Raise an OSError within `with` as Trouble: the label and the system's message."""
    try:
        yield
    except OSError as problem:
        raise Trouble(f"{label}: {problem.strerror}", code) from None


def reason_of(problem: OSError) -> str:
    """Return the system's message for an error."""
    if isinstance(problem, ConnectionError) and problem.errno:
        return os.strerror(problem.errno)  # the event loop has replaced the system's message
    return problem.strerror or str(problem) or type(problem).__name__
