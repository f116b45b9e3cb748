"""What can go wrong before anything runs: one line that says what to do, and an exit code."""

from __future__ import annotations

from typing import Final

FINE: Final = 0
FINDINGS: Final = 1
MISUSE: Final = 2
COULD_NOT_RUN: Final = 3
INTERRUPTED: Final = 130  # as `entry` has it, which loads nothing


class Trouble(Exception):
    """Ends the program with a line on stderr and this exit code, without a traceback."""

    def __init__(self, line: str, code: int = MISUSE) -> None:
        super().__init__(line)
        self.code = code
