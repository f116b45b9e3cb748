"""Progress bars of one style: on stderr while a command works, erased when it ends, and only on a terminal.

    ━━━━━━━━━━━━━━━━━━━━━━━━  312/704  0:12, 0:15 left  group/rejoins  a note

Everything that changes its length is at the end, so that the bar and the numbers stay in their places.
"""

from __future__ import annotations

from typing import Final

from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.table import Column
from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.output import Output

BAR: Final = 24
"""Cells of the bar."""

IN_BYTES: Final = "bytes"
"""The unit of a task that counts bytes."""


def progress_bar(output: Output, *more: ProgressColumn, hidden: bool = False) -> Progress:
    """Make a progress bar, which shows nothing without a terminal or if it is hidden.

    A task may have the field `unit`, such as `requests`, and the field `note`, a remark on the current step.

    Args:
        output: The output of the command.
        more: Columns after the others.
        hidden: Whether to show nothing.
    """
    columns = BarColumn(bar_width=BAR), AmountColumn(), TimeColumn(), TextsColumn(), *more
    disable = hidden or not output.err.is_screen
    return Progress(*columns, console=output.err, transient=True, disable=disable, expand=True)


class AmountColumn(ProgressColumn):
    """A column with the steps that are done, of all steps if their number is known."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        """Return the amount with its unit."""
        unit, done = task.fields.get("unit", ""), int(task.completed)
        if unit == IN_BYTES:
            total = "" if task.total is None else f" of {decimal(int(task.total))}"
            return Text(decimal(done) + total, justify="right")
        total = "" if task.total is None else f"/{int(task.total):,}"
        return Text(f"{done:,}{total} {unit}".rstrip(), justify="right")


class TimeColumn(ProgressColumn):
    """A column with the time so far, and the time that is left if it can be estimated."""

    max_refresh = 0.5

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        """Return the times."""
        text = clock(task.elapsed or 0)
        if task.time_remaining:
            text += f", {clock(task.time_remaining)} left"
        return Text(text, style="dim")


class TextsColumn(ProgressColumn):
    """A column with the description of a task, and its note."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis", ratio=1))

    def render(self, task: Task) -> Text:
        """Return the texts."""
        description, note = printable(task.description), printable(task.fields.get("note", ""))
        return Text.assemble(description, "  " if description and note else "", (note, "dim"))


def clock(seconds: float) -> str:
    """Format a duration.

    >>> clock(7.9), clock(75), clock(3675)
    ('0:07', '1:15', '1:01:15')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
