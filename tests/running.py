"""Processes that run, by what their command lines name."""

from __future__ import annotations

from pathlib import Path


def running(folder: Path) -> list[str]:
    """The command lines of processes that name a folder."""
    lines = [_line(path) for path in Path("/proc").glob("[0-9]*/cmdline")]
    return [line for line in lines if str(folder) in line]


def _line(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # it has just ended
        return ""
