"""The progress bar of an analysis: its current step, and Spark's tasks in this step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import Progress, TaskID

from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar


@dataclass(frozen=True, slots=True)
class StepProgress:
    """A progress bar of steps, with the tasks of the current step."""

    progress: Progress
    steps: TaskID

    def step(self, number: int, count: int, description: str) -> None:
        """Show that a step begins."""
        self.progress.update(
            self.steps, completed=number, total=count, description=description, note=""
        )

    def end(self) -> None:
        """Remove the bar."""
        self.progress.stop()

    def tasks(self, done: int, total: int) -> None:
        """Show how many of Spark's tasks are done."""
        text = f"{done} of {total} tasks" if total else ""
        self.progress.update(self.steps, note=text)


@contextmanager
def step_progress(output: Output) -> Iterator[StepProgress]:
    """Show a progress bar on a terminal, and nothing elsewhere."""
    with progress_bar(output) as progress:
        yield StepProgress(progress, progress.add_task("", total=1))
