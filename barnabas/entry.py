"""The entry point of the command line. Ctrl-C is quiet from here on: loading the rest takes a second."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130
"""The exit code, as a shell has it for SIGINT."""


def main() -> None:
    """Load and run the command line. Where SIGINT is ignored it stays so."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _end)
    from barnabas.cli.app import main as run

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        if ours:  # what is left is to end
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
