"""Captures as commands read them: troubles in one line, a progress bar where somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from barnabas.captures import capture
from barnabas.captures.capture import Capture, Unreadable, open_capture
from barnabas.captures.files.capture_folder import segment_of
from barnabas.captures.files.growth import Growth
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.context import Context
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.remarks import lacking
from barnabas.cli.console.output import Output
from barnabas.cli.proxy.memory import keep_freed
from barnabas.specs.dialects import Dialect
from barnabas.trouble import Trouble

T = TypeVar("T")


def opened(
    *paths: Path,
    keys: KeyLog | None = None,
    context: Context | None = None,
    growth: Growth | None = None,
) -> Capture:
    """Captures, read as one; keys, growth: see `open_capture`. Raises Trouble if one can't be read."""
    keep_freed()
    try:
        return open_capture(*paths, keys=keys, context=context, growth=growth)
    except Unreadable as problem:
        raise Trouble(str(problem)) from None


def spoken(found: Capture, name: str | None) -> Dialect | None:
    """Return the dialect of a capture; None: Kafka's protocol. Raises Trouble if no dialect has the name."""
    try:
        return found.dialect(name)
    except Unreadable as problem:
        raise Trouble(str(problem)) from None


def only_kafka(found: Capture, what: str) -> None:
    """Raise Trouble if a dialect is spoken in a capture; `what` reads Kafka's protocol only."""
    protocol = spoken(found, None)
    if protocol is not None:
        raise Trouble(f"{what} reads Kafka's protocol only: this capture is {protocol.name}")


def apart(paths: Iterable[Path]) -> list[list[Path]]:
    """Files by the capture that they are of: segments of one stand together. Raises Trouble."""
    found: dict[object, list[Path]] = {}
    for place, path in enumerate(paths):
        reader = opened(path).reader
        segment = None if len(reader.paths) > 1 else segment_of(reader.meta)
        found.setdefault(place if segment is None else segment.capture, []).append(path)
    return list(found.values())


def undamaged(found: Capture, what: Iterable[T], shown: str = "") -> Iterator[T]:
    """What is read of a capture. Raises Trouble for damage; `shown` says what came of all before it."""
    try:
        yield from what
    except CaptureError as problem:
        raise Trouble(f"{found.name} is damaged: {problem}{shown}") from None


def read(found: Capture, what: Iterable[T], output: Output, shown: str = "") -> Iterator[T]:
    """The same, and behind it the lines on what the capture lacks."""
    yield from undamaged(found, what, shown)
    output.flush()
    for remark in lacking(found):
        output.note(remark)


def bar(output: Output, doing: str) -> capture.Progress | None:
    """A progress bar on a terminal, if the output goes elsewhere."""
    return None if output.out.is_terminal else any_bar(output, doing)


def any_bar(output: Output, doing: str) -> capture.Progress | None:
    """A progress bar on a terminal."""
    if not output.err.is_terminal:
        return None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )

    @contextmanager
    def shown(total: int) -> Iterator[Callable[[int], None]]:
        with Progress(*columns, console=output.err, transient=True) as progress:
            task = progress.add_task(doing, total=total)
            yield lambda read: progress.update(task, completed=read)

    return shown
