"""Coloured lines, written without rich's renderer, which takes several times as long as the rest of a line.

rich still detects the abilities of the terminal and gives the escape codes of a style, which are looked up
once.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from rich.console import COLOR_SYSTEMS, Console
from rich.style import Style

STYLES: Final = {
    "": "",
    "time": "dim",
    "client": "cyan",
    "broker": "dim",
    "api": "bold",
    "details": "",
    "note": "dim",
    "unanswered": "red",
    "error": "bold red",
    "normal": "dim",
    "latency": "dim",
    "slow": "yellow",
    "retry": "bright_blue",
    "rules": "magenta",
}
"""The style of each kind of segment; text between segments has none.

Red is what went wrong, magenta what a fault did, blue a retry, yellow a long wait. Errors that are part of
normal operation are dim, like all that is in every line.
"""


def write(console: Console, parts: Sequence[tuple[str, str]]) -> None:
    """Write a line of (kind, text) segments in the console's colours. The caller flushes the file."""
    codes = _codes(console.color_system, console.no_color)
    coloured = [
        f"{codes[kind]}{text}{_END}" if kind in codes and text else text for kind, text in parts
    ]
    console.file.write("".join(coloured) + "\n")


_END: Final = "\x1b[0m"


@functools.cache
def _codes(system: str | None, no_color: bool) -> dict[str, str]:
    """Return rich's escape codes by the kind of segment.

    Kinds that are written without colours are left out.
    """
    if system is None:
        return {}
    codes = {}
    for kind, name in STYLES.items():
        style = Style.parse(name)
        if no_color:
            style = style.without_color
        code, _, end = style.render("|", color_system=COLOR_SYSTEMS[system]).partition("|")
        if end:
            codes[kind] = code
    return codes
