"""Processes that a program started, also those that left its process group."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from pathlib import Path
from typing import Final

NAME: Final = "BARNABAS_DESCENDANT"
"""The environment variable with the mark, which child processes inherit."""


class Mark:
    """A mark in the environment of a program and its child processes."""

    def __init__(self) -> None:
        self._value = secrets.token_hex(8)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variable to add to the program's environment."""
        return {NAME: self._value}

    def kill(self) -> None:
        """Kill the processes with the mark, which only /proc shows: on Linux alone."""
        text = f"{NAME}={self._value}".encode()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if text in environment.read_bytes().split(b"\0"):
                    os.kill(int(environment.parent.name), signal.SIGKILL)
