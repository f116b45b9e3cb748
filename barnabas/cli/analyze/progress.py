"""How far an analysis is: the step that it is at, and Spark's tasks in it, where somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from barnabas.cli.console.output import Output


@dataclass(frozen=True, slots=True)
class Shown:
    """A bar for the steps, and the tasks of the one that is under way."""

    progress: Progress
    steps: TaskID

    def step(self, number: int, count: int, what: str) -> None:
        """A step begins."""
        self.progress.update(self.steps, completed=number, total=count, description=what, tasks="")

    def end(self) -> None:
        """Nothing is under way any more: the bar goes."""
        self.progress.stop()

    def tasks(self, done: int, known: int) -> None:
        """So many of Spark's tasks are done."""
        said = f"{done} of {known} tasks" if known else ""
        self.progress.update(self.steps, tasks=said)


@contextmanager
def shown(output: Output) -> Iterator[Shown]:
    """A bar on a terminal, and nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[tasks]}", style="dim"),
    )
    with Progress(
        *columns, console=output.err, transient=True, disable=not output.err.is_terminal
    ) as progress:
        yield Shown(progress, progress.add_task("", total=1, tasks=""))
