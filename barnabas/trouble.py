"""What can go wrong before anything runs: one line that says what to do, and an exit code."""

from __future__ import annotations

import os
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


def reason_of(problem: OSError) -> str:
    """What went wrong, in the system's words."""
    if isinstance(problem, ConnectionError) and problem.errno:
        return os.strerror(problem.errno)  # the loop has put a text of its own in its place
    return problem.strerror or str(problem) or type(problem).__name__
