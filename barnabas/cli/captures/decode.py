"""`barnabas decode`: a capture, printed like the live log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from barnabas.captures.capture import Capture
from barnabas.captures.kafka.exchange import with_bodies
from barnabas.captures.kafka.frames import ListedFrame, frames
from barnabas.cli.captures.decode_options import DecodeOptions
from barnabas.cli.captures.input import bar, opened, read, spoken
from barnabas.cli.captures.remarks import left_over, remarks, unread
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.options import blob_of
from barnabas.cli.console.output import Output
from barnabas.cli.traces.options import endpoint_of
from barnabas.plural import plural
from barnabas.specs.dialects import Dialect
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble

if TYPE_CHECKING:
    from barnabas.cli.traces.exporter import Exporter

LONGEST: Final = 10.0
"""Seconds that the collector has for the last spans."""

UP_TO_THERE: Final = "; shown up to there"


def decode(options: DecodeOptions) -> int:
    """Print the exchanges of captures, or their frames; return the exit code.

    Raises:
        Trouble: A file is unreadable, or a condition is invalid.
    """
    output = Output()
    keys = read_keys(options.tls_keys)
    _prepare(options, output)
    exporter = None if options.otlp is None else _exporter(options.otlp, output)
    capture = opened(*options.files, keys=keys, context=output.context)
    protocol = spoken(capture, options.dialect)
    if options.frames:
        if protocol is not None:
            raise Trouble(f"--frames reads Kafka's headers only: this capture is {protocol.name}")
        _print_frames(capture, output, as_json=options.as_json)
    else:
        _print_exchanges(capture, protocol, output, as_json=options.as_json)
    dropped = []
    if exporter is not None:
        exporter.close(LONGEST)
        dropped = exporter.remarks()
    for remark in (*_remarks(capture, protocol, output), *dropped):
        output.note(remark)
    return COULD_NOT_RUN if dropped else FINE


def _prepare(options: DecodeOptions, output: Output) -> None:
    """Set up the output by the options. Raises Trouble."""
    output.blob = blob_of(options.bodies)
    if options.values.shown:
        output.values = options.values.read()
    output.select(options.only, errors=options.follow_errors)
    if not (options.as_json or options.frames):
        output.fold(options.quiet_fetches)


def _exporter(url: str, output: Output) -> Exporter:
    """Send a span of each exchange that the output shows. Raises Trouble."""
    endpoint = endpoint_of(url)
    from barnabas.cli.traces.exporter import Exporter, InTurn  # this module loads slowly

    exporter = Exporter(endpoint, output.context, output.note, InTurn)
    output.traced = exporter.exchange
    return exporter


def _print_frames(capture: Capture, output: Output, *, as_json: bool) -> None:
    seen_frames = frames(capture.events(bar(output, "decoding")))
    with output.batches():
        for frame in read(capture, seen_frames, output, UP_TO_THERE):
            if as_json:
                output.raw(json_text(frame.row()))
            else:
                output.line(_text(frame))


def _print_exchanges(
    capture: Capture, protocol: Dialect | None, output: Output, *, as_json: bool
) -> None:
    decoded = capture.exchanges(bar(output, "decoding"), inferred=True, spoken=protocol)
    show = output.json if as_json else output.exchange
    exchanges = 0
    with output.batches():
        for exchange in read(
            capture, capture.learn(map(with_bodies, decoded)), output, UP_TO_THERE
        ):
            exchanges += 1
            show(exchange)
    if capture.reader.numbered and not exchanges and not capture.reader.left_out:
        output.note(f"no exchanges in {capture.name}")


def _remarks(capture: Capture, protocol: Dialect | None, output: Output) -> Iterator[str]:
    """Yield notes on exchanges that were not shown."""
    yield from remarks(capture, protocol)
    yield from left_over(capture.conversations)
    if output.hidden:
        yield f"{plural(output.hidden, 'exchange')} not shown: {output.selected_by}"
    if output.folded is not None and output.folded.note:
        yield output.folded.note
    yield from unread(capture.undecoded + output.undecoded, output.too_large, protocol)


def _text(frame: ListedFrame) -> str:
    arrow = "→" if frame.direction == "request" else "←"
    version = "" if frame.version is None else f" v{frame.version}"
    facts = {name: value for name, value in frame.facts.items() if name != "frame"}
    tail = f"  {json.dumps(facts, ensure_ascii=False)}" if facts else ""
    return (
        f"{frame.row()['ts']}  {frame.connection:>4} {arrow} {frame.flow:<7} "
        f"{frame.client_id or '-':<20} {frame.api}{version} #{frame.correlation_id} "
        f"{frame.size} B{tail}"
    )
