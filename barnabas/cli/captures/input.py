"""Captures as commands read them: errors are one line, and a terminal shows a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from barnabas.captures import capture
from barnabas.captures.capture import Capture, Unreadable, open_capture
from barnabas.captures.files.capture_folder import segment_of
from barnabas.captures.files.growth import Growth
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.context import Context
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.remarks import lacking
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import IN_BYTES, progress_bar
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
    """Open captures, to be read as one. Raises Trouble.

    keys, growth: see `open_capture`.
    """
    keep_freed()
    try:
        return open_capture(*paths, keys=keys, context=context, growth=growth)
    except Unreadable as problem:
        raise Trouble(str(problem)) from None


def spoken(capture: Capture, name: str | None) -> Dialect | None:
    """Return the dialect of a capture; None: Kafka's protocol. Raises Trouble if no dialect has the name."""
    try:
        return capture.dialect(name)
    except Unreadable as problem:
        raise Trouble(str(problem)) from None


def only_kafka(capture: Capture, command: str) -> None:
    """Raise Trouble if a capture has a dialect; `what` reads only Kafka's protocol."""
    protocol = spoken(capture, None)
    if protocol is not None:
        raise Trouble(f"{command} reads Kafka's protocol only: this capture is {protocol.name}")


def apart(paths: Iterable[Path]) -> list[list[Path]]:
    """Group files by their capture: the segments of a capture belong together. Raises Trouble."""
    groups: dict[object, list[Path]] = {}
    for index, path in enumerate(paths):
        reader = opened(path).reader
        segment = None if len(reader.paths) > 1 else segment_of(reader.meta)
        groups.setdefault(index if segment is None else segment.capture, []).append(path)
    return list(groups.values())


def undamaged(capture: Capture, items: Iterable[T], ending: str = "") -> Iterator[T]:
    """Yield the items that are read from a capture.

    ending: The end of the error message: what became of the items that could be read.

    Raises:
        Trouble: The capture is damaged.
    """
    try:
        yield from items
    except CaptureError as problem:
        raise Trouble(f"{capture.name} is damaged: {problem}{ending}") from None


def read(capture: Capture, items: Iterable[T], output: Output, ending: str = "") -> Iterator[T]:
    """Yield the items that are read from a capture, then print notes on its missing parts. Raises Trouble."""
    yield from undamaged(capture, items, ending)
    output.flush()
    for remark in lacking(capture):
        output.note(remark)


def bar(output: Output, doing: str) -> capture.Progress | None:
    """Return a progress bar if stderr is a terminal and stdout is none; else None."""
    return None if output.out.is_screen else any_bar(output, doing)


def any_bar(output: Output, doing: str) -> capture.Progress | None:
    """Return a progress bar if stderr is a terminal; else None."""
    if not output.err.is_screen:
        return None

    @contextmanager
    def shown(total: int) -> Iterator[Callable[[int], None]]:
        with progress_bar(output) as progress:
            task = progress.add_task(doing, total=total, unit=IN_BYTES)
            yield lambda read: progress.update(task, completed=read)

    return shown
