"""`barnabas decode`: a capture printed as the live log would have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from barnabas.output import Output
from barnabas.parsing import parse_filter
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble
from captures.conversation import Conversations, Event
from captures.frames import SeenFrame, frames
from captures.pcapng import CaptureError
from captures.reader import CaptureReader


def decode(
    path: Path,
    *,
    as_json: bool,
    frames_only: bool,
    only: str | None = None,
    output: Output | None = None,
) -> int:
    """Print a capture's exchanges (those that meet `only`), or its frames; returns the exit code.

    Raises Trouble for a file that can't be read, or a condition that can't be meant.
    """
    output = output or Output()
    if only is not None:
        if frames_only:
            raise Trouble("--filter is about exchanges: give it without --frames")
        output.passes = parse_filter(only, output.context.topics)
    try:
        reader = CaptureReader(path)
    except OSError as problem:
        raise Trouble(f"can't read the capture {path}: {problem.strerror}") from None
    except CaptureError as problem:
        raise Trouble(f"{path} is no capture: {problem}") from None
    conversations = Conversations()
    try:
        if frames_only:
            for frame in frames(_watched(reader, path, output)):
                output.raw(json.dumps(frame.row()) if as_json else _text(frame))
        else:
            for exchange in conversations.exchanges(_watched(reader, path, output)):
                if as_json:
                    output.json(exchange)
                else:
                    output.exchange(exchange)
    except CaptureError as problem:
        raise Trouble(f"{path} is damaged: {problem}; shown up to there", COULD_NOT_RUN) from None
    if reader.truncated:
        output.note(f"{path} ends in the middle of a block; all before it is shown")
    if conversations.skipped:
        output.note(f"{conversations.skipped} bytes could not be taken apart into frames")
    if output.hidden:
        output.note(f"{output.hidden} exchanges not shown: --filter")
    undecoded = conversations.undecoded + output.undecoded
    if undecoded:
        output.note(f"{undecoded} frames that no schema reads, or that nobody asked for")
    return FINE


def _watched(reader: CaptureReader, path: Path, output: Output) -> Iterator[Event]:
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
        task = progress.add_task("decoding", total=path.stat().st_size)
        for event in reader:
            yield event
            progress.update(task, completed=reader.position)


def _text(frame: SeenFrame) -> str:
    arrow = "→" if frame.direction == "request" else "←"
    version = "" if frame.version is None else f" v{frame.version}"
    facts = {name: value for name, value in frame.facts.items() if name != "frame"}
    tail = f"  {json.dumps(facts, ensure_ascii=False)}" if facts else ""
    return (
        f"{frame.row()['ts']}  {frame.connection:>4} {arrow} {frame.flow:<7} "
        f"{frame.client_id or '-':<20} {frame.api}{version} #{frame.correlation_id} "
        f"{frame.size} B{tail}"
    )
