"""`barnabas decode`: a capture printed as the live log would have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.captures.kafka.exchange import with_bodies
from barnabas.captures.kafka.frames import SeenFrame, frames
from barnabas.captures.tls.keylog import KeyLog
from barnabas.captures.values.value import Values
from barnabas.cli.captures.input import bar, opened, read, spoken
from barnabas.cli.captures.remarks import left_over, remarks, unread
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.options import Bodies, blob_of
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble

if TYPE_CHECKING:
    from barnabas.cli.traces.exporter import Exporter

LONGEST: Final = 10.0
"""Seconds that a collector is given for the last spans."""


def decode(
    paths: Sequence[Path],
    *,
    as_json: bool,
    frames_only: bool,
    only: str | None = None,
    quiet: bool | None = None,
    keys: KeyLog | None = None,
    dialect: str | None = None,
    bodies: Bodies | None = None,
    otlp: str | None = None,
    values: Values | None = None,
    output: Output | None = None,
) -> int:
    """Print the exchanges of captures (those that meet `only`), or their frames; returns the exit code.

    quiet: whether lines that say nothing are left out; None: on a terminal, where nothing is filtered.
    values: how keys and values of records are decoded, where JSON is to have them.
    dialect: its name, if their scenario does not have it. otlp: where spans of them go.
    Raises Trouble for a file that can't be read, or a condition that can't be meant.
    """
    output = output or Output()
    output.blob = blob_of(bodies, as_json=as_json and not frames_only)
    output.values = values
    if only is not None:
        if frames_only:
            raise Trouble("--filter applies to exchanges: omit --frames")
        output.passes = parse_filter(only, output.context.topics, output.note)
    if not (as_json or frames_only):
        output.fold(quiet)
    exporter: Exporter | None = None
    if otlp is not None:
        from barnabas.cli.traces.exporter import Exporter, InTurn  # takes its time to load

        exporter = Exporter(otlp, output.context, output.note, InTurn)
        output.traced = exporter.exchange
    capture = opened(*paths, keys=keys, context=output.context)
    protocol = spoken(capture, dialect)
    progress = bar(output, "decoding")
    upto = "; shown up to there"
    if frames_only:
        if protocol is not None:
            raise Trouble(f"--frames reads Kafka's headers only: this capture is {protocol.name}")
        seen = read(capture, frames(capture.events(progress)), output, upto)
        with output.batches():
            for frame in seen:
                if as_json:
                    output.raw(json_text(frame.row()))
                else:
                    output.line(_text(frame))
    else:
        found = capture.exchanges(progress, inferred=True, spoken=protocol)
        show = output.json if as_json else output.exchange
        exchanges = 0
        with output.batches():
            for exchange in read(capture, capture.learn(map(with_bodies, found)), output, upto):
                exchanges += 1
                show(exchange)
        if capture.reader.numbered and not exchanges and not capture.reader.left_out:
            output.note(f"no exchanges in {capture.name}")
    dropped = []
    if exporter is not None:
        exporter.close(LONGEST)
        dropped = exporter.remarks()
    for remark in (*remarks(capture, protocol), *left_over(capture.conversations)):
        output.note(remark)
    if output.hidden:
        output.note(f"{plural(output.hidden, 'exchange')} not shown: --filter")
    if output.folded is not None and output.folded.said:
        output.note(output.folded.said)
    frames_unread = capture.undecoded + output.undecoded
    for remark in (*unread(frames_unread, output.too_large, protocol), *dropped):
        output.note(remark)
    return COULD_NOT_RUN if dropped else FINE


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
