"""Lines in colours, as rich would write them, which takes several times as long as all else of a line.

So of rich there are only the terminal's abilities, and the codes of a style, looked up once.
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
    "error": "bold red",
    "latency": "green",
    "slow": "yellow",
    "rules": "magenta",
}
"""The style of each kind of segment; what stands between them is of none."""


def write(console: Console, parts: Sequence[tuple[str, str]]) -> None:
    """Write a line, (kind, text) each, in the colours of the console. Whoever calls flushes the file."""
    codes = _codes(console.color_system, console.no_color)
    coloured = [
        f"{codes[kind]}{text}{_END}" if kind in codes and text else text for kind, text in parts
    ]
    console.file.write("".join(coloured) + "\n")


_END: Final = "\x1b[0m"


@functools.cache
def _codes(system: str | None, no_color: bool) -> dict[str, str]:
    """What rich puts before a text, by its kind; none for one that stays as it is."""
    if system is None:
        return {}
    found = {}
    for kind, name in STYLES.items():
        style = Style.parse(name)
        if no_color:
            style = style.without_color
        code, _, end = style.render("|", color_system=COLOR_SYSTEMS[system]).partition("|")
        if end:
            found[kind] = code
    return found
