"""Where text leaves for a terminal: nothing in it is markup, and nothing steers the terminal.

Names, reasons and errors come from strangers. What is one line stays one, and what is no character that
can be printed (escapes, carriage returns, C1, marks that turn the direction of writing) is shown as such.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

WIDE: Final = 1 << 20
"""Cells of a line in a pipe or a file: nothing is folded or cut there."""


def lines(text: str) -> str:
    """Text of several lines, without what steers a terminal.

    >>> lines("a\\x1b[2Jb\\nc")
    'a�[2Jb\\nc'
    """
    if text.replace("\n", "").isprintable():
        return text
    from barnabas.captures.kafka.wording import printable  # it takes its time to load

    return "\n".join(map(printable, text.split("\n")))


class Terminal(Console):
    """One of the two streams; colours only where there is a terminal, and not if NO_COLOR is set.

    As wide as the terminal, or WIDE where there is none. Lines are not folded.
    """

    def __init__(self, **options: Any) -> None:
        plain = {"highlight": False, "markup": False, "emoji": False, "soft_wrap": True}
        super().__init__(**plain | options)
        if "width" not in options and not self.file.isatty():
            self.width = WIDE  # rich has 80, and where FORCE_COLOR is set says it is a terminal

    def on_broken_pipe(self) -> None:
        """Whoever read it is gone: that is BrokenPipeError, as of any file; rich would exit with 1."""
        raise

    def show_table(self, table: Table) -> None:
        """Print a table: in as many lines as a terminal needs, or else a line a row, as long as it is."""
        if self.is_terminal and self.width < WIDE:
            for column in table.columns:
                column.overflow = "fold"  # rich would cut a word that is too long
            self.print(table, soft_wrap=False)
            return
        with self.capture() as captured:
            self.print(table)
        for line in captured.get().splitlines():
            if line.strip():
                self.file.write(line.rstrip() + "\n")
        self.file.flush()

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is to be written, in pieces; rich's own steering is kept."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)
