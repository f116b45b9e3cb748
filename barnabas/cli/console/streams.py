"""The three standard streams as every command needs them: open, and willing to take any character."""

from __future__ import annotations

import io
import os
import sys


def make_usable() -> None:
    """Open to nothing what whoever started this closed, and escape what an encoding lacks.

    The next file or socket would take the number of a closed one: what is printed would go there.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest that is free: its own
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """A last line on stderr; where nobody can write to it the exit code alone tells."""
    try:
        sys.stderr.write(f"barnabas: {line}\n")
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # Python would try again
