"""The bar of work whose steps are counted."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from barnabas.cli.console.output import Output


def counted(output: Output) -> Progress:
    """What is under way, how many of how many, and how long still; nothing where no terminal is."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=output.err,
        transient=True,
        disable=not output.err.is_terminal,
    )
