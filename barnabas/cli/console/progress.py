"""Progress bars: on stderr while a command works, erased when it ends, and only on a terminal."""

from __future__ import annotations

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from barnabas.cli.console.output import Output


def progress_bar(output: Output, *columns: ProgressColumn, hidden: bool = False) -> Progress:
    """Make a progress bar of some columns, which shows nothing without a terminal or if it is hidden."""
    disable = hidden or not output.err.is_terminal
    return Progress(*columns, console=output.err, transient=True, disable=disable)


def counting_bar(output: Output) -> Progress:
    """Make a progress bar with a description, the steps done of all steps, and the remaining time."""
    description = TextColumn("{task.description}")
    return progress_bar(
        output, description, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )
