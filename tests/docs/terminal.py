"""Commands on a terminal of their own, and what the terminal shows as SVG.

util-linux's `script` is the terminal, so commands print in colours and shorten lines to its width.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

COLUMNS: Final = 112
BACKGROUND: Final = "#191919"
FONT: Final = 'Menlo, Consolas, "DejaVu Sans Mono", monospace'

CHARACTER: Final = (12.2, 24.4)
"""Width and height of a character in Rich's SVG of a terminal."""


def start(command: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """Start a command on a terminal, whose keyboard is the process's stdin."""
    return subprocess.Popen(stdin=subprocess.PIPE, **_arguments(command, folder))


def run(command: Sequence[str], folder: Path) -> str:
    """Run a command on a terminal and return what it prints. Exit codes other than 0 end this program."""
    done = subprocess.run(
        stdin=subprocess.DEVNULL, timeout=300, check=False, **_arguments(command, folder)
    )
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return str(done.stdout)


def _arguments(command: Sequence[str], folder: Path) -> dict[str, Any]:
    script = f"stty cols {COLUMNS} rows 40; {shlex.join(command)}"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {
        "args": ["script", "-qec", script, "/dev/null"],
        "stdout": subprocess.PIPE,
        "text": True,
        "cwd": folder,
        "env": {**os.environ, "PATH": path, "TERM": "xterm-256color"},
    }


def rows(output: str) -> Iterator[Text]:
    """Break output into rows as the terminal does: at its width, not between words."""
    for line in output.replace("\r", "").split("\n"):
        text = Text.from_ansi(line)
        yield from text.divide(range(COLUMNS, len(text), COLUMNS))


def svg(lines: Iterable[Text], template: str, name: str) -> str:
    """Draw lines by Rich's template for SVG; the name begins the classes and ids in it."""
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    for line in lines:
        console.print(line, no_wrap=True, crop=True)
    return console.export_svg(title="", theme=DIMMED_MONOKAI, code_format=template, unique_id=name)
