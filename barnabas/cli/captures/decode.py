"""`barnabas decode`: a capture printed as the live log would have."""

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
from barnabas.cli.console.parsing import parse_filter
from barnabas.cli.traces.options import endpoint_of
from barnabas.plural import plural
from barnabas.specs.dialects import Dialect
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble

if TYPE_CHECKING:
    from barnabas.cli.traces.exporter import Exporter

LONGEST: Final = 10.0
"""Seconds that a collector is given for the last spans."""

UP_TO_THERE: Final = "; shown up to there"


def decode(asked: DecodeOptions, output: Output | None = None) -> int:
    """Print the exchanges of captures, or their frames; returns the exit code.

    Raises Trouble for a file that can't be read, or a condition that can't be meant.
    """
    output = output or Output()
    keys = read_keys(asked.tls_keys)
    _prepare(asked, output)
    exporter = None if asked.otlp is None else _exporter(asked.otlp, output)
    capture = opened(*asked.files, keys=keys, context=output.context)
    protocol = spoken(capture, asked.dialect)
    if asked.frames:
        if protocol is not None:
            raise Trouble(f"--frames reads Kafka's headers only: this capture is {protocol.name}")
        _print_frames(capture, output, as_json=asked.as_json)
    else:
        _print_exchanges(capture, protocol, output, as_json=asked.as_json)
    dropped = []
    if exporter is not None:
        exporter.close(LONGEST)
        dropped = exporter.remarks()
    for remark in (*_remarks(capture, protocol, output), *dropped):
        output.note(remark)
    return COULD_NOT_RUN if dropped else FINE


def _prepare(asked: DecodeOptions, output: Output) -> None:
    """Have the output print what is asked for. Raises Trouble."""
    output.blob = blob_of(asked.bodies)
    if asked.values.shown:
        output.values = asked.values.read()
    if asked.only is not None:
        output.passes = parse_filter(asked.only, output.context.topics, output.note)
    if not (asked.as_json or asked.frames):
        output.fold(asked.quiet_fetches)


def _exporter(url: str, output: Output) -> Exporter:
    """Send a span of each exchange that the output shows. Raises Trouble."""
    endpoint = endpoint_of(url)
    from barnabas.cli.traces.exporter import Exporter, InTurn  # takes its time to load

    exporter = Exporter(endpoint, output.context, output.note, InTurn)
    output.traced = exporter.exchange
    return exporter


def _print_frames(capture: Capture, output: Output, *, as_json: bool) -> None:
    seen = frames(capture.events(bar(output, "decoding")))
    with output.batches():
        for frame in read(capture, seen, output, UP_TO_THERE):
            if as_json:
                output.raw(json_text(frame.row()))
            else:
                output.line(_text(frame))


def _print_exchanges(
    capture: Capture, protocol: Dialect | None, output: Output, *, as_json: bool
) -> None:
    found = capture.exchanges(bar(output, "decoding"), inferred=True, spoken=protocol)
    show = output.json if as_json else output.exchange
    exchanges = 0
    with output.batches():
        for exchange in read(capture, capture.learn(map(with_bodies, found)), output, UP_TO_THERE):
            exchanges += 1
            show(exchange)
    if capture.reader.numbered and not exchanges and not capture.reader.left_out:
        output.note(f"no exchanges in {capture.name}")


def _remarks(capture: Capture, protocol: Dialect | None, output: Output) -> Iterator[str]:
    """What was not shown, and why."""
    yield from remarks(capture, protocol)
    yield from left_over(capture.conversations)
    if output.hidden:
        yield f"{plural(output.hidden, 'exchange')} not shown: --filter"
    if output.folded is not None and output.folded.said:
        yield output.folded.said
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
