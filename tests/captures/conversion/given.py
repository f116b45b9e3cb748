"""Convert captures, and compare their exchanges."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path
from typing import Any

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.captures.convert import convert
from barnabas.cli.captures.convert_options import ConvertOptions
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter
from barnabas.cli.console.terminal import Terminal
from tests.captures.traffic import BROKER, CLIENT, NOW, Said, ip_packet, segments, write_pcap


def quiet() -> Output:
    """Return an output that is discarded."""
    return Output(Terminal(file=io.StringIO()), Terminal(file=io.StringIO()))


def converted(path: Path, out: Path, only: str | None = None, **wanted: Any) -> Path:
    """Convert the exchanges of a capture that pass the filter."""
    assert convert(ConvertOptions(files=[path, out], only=only, **wanted), quiet()) == 0
    return out


def part(path: Path, only: str | None = None, **wanted: Any) -> Path:
    """Convert the exchanges of a capture that pass the filter, into a file next to it."""
    return converted(path, path.with_name("part.pcapng"), only, **wanted)


def again(path: Path) -> bytes:
    """Convert a converted capture again, and return its bytes."""
    return converted(path, path.with_name("again.pcapng")).read_bytes()


def rows(path: Path, only: str | None = None) -> list[dict[str, Any]]:
    """Return the exchanges of a capture as in `decode --json`, with how they ended.

    Facts from earlier messages are left out, except names of topics.
    """
    output = quiet()
    passes = None if only is None else parse_filter(only, output.context.topics)
    found = []
    for exchange in Conversations().exchanges(CaptureReader(path)):
        output.context.learn(exchange)
        if passes is None or passes(exchange):
            found.append(json.loads(output.row(exchange)) | {"note": exchange.note})
    return found


def ours(path: Path, said: list[Said], lost: tuple[int, ...] = (), **meta: object) -> Path:
    """Write a connection like barnabas: one frame for each packet, a millisecond apart.

    The packets in `lost` are missing.
    """
    with CaptureWriter(path, limit=None, meta=meta) as writer:
        flow = writer.open(3, CLIENT, BROKER, NOW, {"client": "10.9.9.9:1", "broker": 7})
        numbers = {"request": 0, "response": 0}
        for at, (way, data) in enumerate(said):
            comment = {"frame": numbers[way], "rules": [f"rule {numbers[way]}"]}
            numbers[way] += 1
            if at in lost:
                flow.missing("arrived", way, len(data), NOW)
            else:
                flow.arrived(way, data, NOW + at * 1_000_000, [(len(data), comment)])
        flow.close(NOW + len(said) * 1_000_000)
    return path


def others(path: Path, said: list[Said], size: int = 1 << 20) -> Path:
    return write_pcap(path, map(ip_packet, segments(said, itertools.repeat(size))))
