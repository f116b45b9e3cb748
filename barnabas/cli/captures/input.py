"""Capture files as commands read them: troubles in one line, a progress bar where somebody looks."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from barnabas.captures.files.capture_folder import ranges, segment_of, size_of
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.id_names import told
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.draft_conversation import Dialects
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import plural
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.tls_keys import tls_remarks
from barnabas.cli.console.output import Output
from barnabas.cli.proxy.memory import keep_freed
from barnabas.specs.drafts import Draft, draft
from barnabas.trouble import Trouble


def opened(*paths: Path, keys: KeyLog | None = None) -> CaptureReader:
    """Captures, read as one; `keys` are those of TLS. Raises Trouble if one can't be read or is none."""
    keep_freed()
    for path in paths:
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                raise Trouble(f"can't read the capture {path}: it is no file; save it to one")
            reader = CaptureReader(path, keys=keys)
        except OSError as problem:
            raise Trouble(f"can't read the capture {path}: {problem.strerror}") from None
        except CaptureError as problem:
            raise Trouble(f"{path} is no capture: {problem}") from None
    return reader if len(paths) == 1 else CaptureReader(*paths, keys=keys)


def spoken(reader: CaptureReader, name: str | None) -> Draft | None:
    """The draft that is spoken in a capture: what was said, else what its scenario says; None: Kafka's own.

    Raises Trouble for a name that is none of a draft's.
    """
    if name is None:
        name = _dialect(reader.meta.get("scenario"))
    if name is None:
        return None
    try:
        return draft(name)
    except LookupError as problem:
        raise Trouble(str(problem)) from None


def _dialect(scenario: object) -> str | None:
    """What a scenario in a capture says is spoken; None if it says nothing, or is no YAML."""
    try:
        document = yaml.safe_load(scenario) if isinstance(scenario, str) else None
    except (yaml.YAMLError, ValueError, RecursionError):  # a date of month 13 is a ValueError
        return None
    name = document.get("dialect") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def apart(paths: Iterable[Path]) -> list[list[Path]]:
    """Files by the capture that they are of: segments of one stand together. Raises Trouble."""
    found: dict[object, list[Path]] = {}
    for place, path in enumerate(paths):
        reader = opened(path)
        segment = None if len(reader.paths) > 1 else segment_of(reader.meta)
        found.setdefault(place if segment is None else segment.capture, []).append(path)
    return list(found.values())


def remarks(reader: CaptureReader, dialect: Draft | None = None) -> Iterator[str]:
    """What a capture that was read has, and was not shown: a line for each kind; and as what it was read."""
    name = named(reader)
    sliced = reader.meta.get("slice")
    if isinstance(sliced, list):
        yield f"{name} is a slice: {', of '.join(map(str, sliced))}"
    if reader.truncated:
        yield f"{name} ends in the middle of a block; all before it is shown"
    if reader.left_out:
        said = ", ".join(
            f"{count} {kind} on port {port}"
            for (port, kind), count in sorted(reader.left_out.items(), key=lambda item: -item[1])[
                :8
            ]
        )
        more = ", ..." if len(reader.left_out) > 8 else ""
        total = plural(sum(reader.left_out.values()), "connection")
        yield f"not Kafka, left out: {total} ({said}{more})"
    packets = reader.packets
    if packets.foreign:
        yield f"{plural(packets.foreign, 'packet')} without TCP"
    for kind, count in packets.unread.items():
        yield f"{plural(count, 'packet')} of kind {kind} need scapy: pip install 'barnabas[capture]'"
    if packets.cut:
        yield f"{plural(packets.cut, 'segment')} cut short by the capture's snap length"
    if packets.fragments.given_up:
        yield f"{plural(packets.fragments.given_up, 'datagram')} of which a fragment is missing"
    if dialect is not None:
        yield f"read as {dialect.name}, a protocol that never shipped"


def earlier(conversations: Conversations) -> str:
    """What a segment that was read alone lacks."""
    count = plural(conversations.earlier, "response")
    return f"{count} not shown: the requests are in a segment that was not given"


def named(reader: CaptureReader) -> str:
    """The names of what was given: files and folders."""
    return " and ".join(map(str, reader.given))


def watched(reader: CaptureReader, output: Output, doing: str) -> Iterator[Event]:
    """The events, and at their end what is to be said of missing segments, and of TLS: the output may lack
    what it hides.

    With a progress bar if the output goes elsewhere than to the same terminal.
    """
    recall(reader, output.context)
    output.names_brokers = not reader.says_brokers
    yield from reader if output.out.is_terminal else with_bar(reader, output, doing)
    for remark in (*segment_remarks(reader), *tls_remarks(reader)):
        output.note(remark)


def segment_remarks(reader: CaptureReader) -> Iterator[str]:
    """Which segments are missing of a capture that was read."""
    for numbers in reader.missing.values():
        here = "is" if len(numbers) == 1 else "are"
        count = plural(len(numbers), "segment")
        yield f"{named(reader)}: {count} {here} missing: {ranges(numbers)}"


def recall(reader: CaptureReader, context: Context) -> None:
    """Learn what a slice was given, since what said it may be left out: names of topics, and of brokers."""
    context.topics.update(known_topics(reader))
    nodes = reader.meta.get("brokers")
    if isinstance(nodes, dict):
        context.brokers.recall({a: node for a, node in nodes.items() if type(node) is int})


def known_topics(reader: CaptureReader) -> dict[uuid.UUID, str]:
    """Names by id that stand in a slice's own words."""
    return told(reader.meta.get("topics"))


def with_bar(reader: CaptureReader, output: Output, doing: str) -> Iterator[Event]:
    """The events; with a progress bar on a terminal."""
    if not output.err.is_terminal:
        yield from reader
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=output.err, transient=True) as progress:
        task = progress.add_task(doing, total=sum(map(size_of, reader.paths)))
        for event in reader:
            yield event
            progress.update(task, completed=reader.position)


def exchanges(
    reader: CaptureReader,
    events: Iterable[Event],
    conversations: Conversations | Dialects | None = None,
) -> Iterator[Exchange]:
    """The exchanges of a reader's events (itself, or as they are `watched`).

    conversations: what puts them together, if one asks it later. Raises Trouble for damage.
    """
    try:
        yield from (conversations or Conversations()).exchanges(events)
    except CaptureError as problem:
        raise Trouble(f"{named(reader)} is damaged: {problem}") from None
