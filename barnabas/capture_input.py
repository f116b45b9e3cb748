"""Capture files as commands read them: troubles in one line, a progress bar where somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from barnabas.output import Output
from barnabas.trouble import Trouble
from captures.conversation import Event
from captures.pcapng import CaptureError
from captures.reader import CaptureReader


def opened(path: Path) -> CaptureReader:
    """A capture. Raises Trouble if it can't be read or is none."""
    try:
        return CaptureReader(path)
    except OSError as problem:
        raise Trouble(f"can't read the capture {path}: {problem.strerror}") from None
    except CaptureError as problem:
        raise Trouble(f"{path} is no capture: {problem}") from None


def watched(reader: CaptureReader, path: Path, output: Output, doing: str) -> Iterator[Event]:
    """The events; with a progress bar if the output goes elsewhere than to the same terminal."""
    if output.out.is_terminal or not output.err.is_terminal:
        yield from reader
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=output.err, transient=True) as progress:
        task = progress.add_task(doing, total=path.stat().st_size)
        for event in reader:
            yield event
            progress.update(task, completed=reader.position)
