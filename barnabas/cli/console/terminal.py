"""Printing text on a terminal safely: no text is markup, and none can steer the terminal.

Names, reasons and errors come from other programs. A line stays one line, and characters that can't be
printed (escapes, carriage returns, C1 controls, marks that change the direction of writing) are replaced by
visible signs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

WIDE: Final = 1 << 20
"""Cells of a line in a pipe or a file, where nothing is folded or cut."""


def lines(text: str) -> str:
    r"""Return a text of several lines without characters that steer a terminal.

    >>> lines("a\x1b[2Jb\nc")
    'a�[2Jb\nc'
    """
    if text.replace("\n", "").isprintable():
        return text
    from barnabas.captures.kafka.wording import printable  # this module loads slowly

    return "\n".join(map(printable, text.split("\n")))


def plain_table(
    *columns: str, numbers: Collection[str] = (), unbroken: Collection[str] = ()
) -> Table:
    """Make a table without lines.

    Args:
        columns: The titles of the columns.
        numbers: The titles of columns that are aligned to the right.
        unbroken: The titles of columns whose cells are never wrapped.
    """
    table = Table(box=None, pad_edge=False)
    for title in columns:
        side: Literal["left", "right"] = "right" if title in numbers else "left"
        table.add_column(title, justify=side, no_wrap=title in unbroken)
    return table


class Terminal(Console):
    """A rich console on stdout or stderr: colours only on a terminal, and not if NO_COLOR is set.

    It is as wide as the terminal, or `WIDE` without one. Lines are not folded.
    """

    def __init__(self, **options: Any) -> None:
        plain = {"highlight": False, "markup": False, "emoji": False, "soft_wrap": True}
        super().__init__(**plain | options)
        if "width" not in options and not self.file.isatty():
            self.width = WIDE  # rich assumes 80, and a terminal if FORCE_COLOR is set

    @property
    def is_screen(self) -> bool:
        """Return whether it has a width: with FORCE_COLOR rich calls a file a terminal, too."""
        return self.is_terminal and self.width < WIDE

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError when the reader has closed the pipe; rich would exit with code 1."""
        raise

    def show_table(self, table: Table) -> None:
        """Print a table: folded to a terminal's width; elsewhere one line for each row, of any length."""
        if self.is_screen:
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
        """Render segments of which only rich's own control codes steer the terminal."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)
