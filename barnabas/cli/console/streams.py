"""The three standard streams, made usable for every command: open, and able to print any character."""

from __future__ import annotations

import io
import os
import sys


def make_usable() -> None:
    """Open closed standard streams to /dev/null, and escape characters that the encoding lacks.

    Otherwise the next file or socket would get the number of a closed stream, and prints would go there.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest that is free: its own
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """Print a last line on stderr; if stderr can't be written, the exit code is the only sign."""
    try:
        sys.stderr.write(f"barnabas: {line}\n")
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # Python would try again
