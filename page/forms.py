"""What exchanges are taken away as: a line a form."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, NamedTuple

from barnabas.captures.capture import Capture, Unreadable
from barnabas.captures.conversion.reconstruction import reconstruct
from barnabas.captures.conversion.repacker import repack
from barnabas.captures.conversion.selection import Selection
from barnabas.captures.conversion.survey import Survey
from barnabas.captures.files.capture_folder import size_of
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.json_line import json_line
from barnabas.captures.writing.masking import Masking
from barnabas.peers.replay.as_pytest import as_pytest
from barnabas.plural import plural
from barnabas.proxy.excerpt import Source, excerpt
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.jsonform import elided

LARGEST: Final = 1 << 30
"""Bytes of a capture that is looked through for packets, at most."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where exchanges are from."""

    name: str
    packets: Callable[[], Capture] | None = None
    """Opens the capture that has their packets; it may raise Unreadable."""
    scenarios: Callable[[], Sequence[Source]] = tuple
    """Those that held."""
    faults: tuple[Fault, ...] = FAULTS
    """Which their rules may name."""
    context: Callable[[], Context] = Context
    """Makes what was known before the first of them."""


def of_capture(capture: Capture, again: Callable[[], Capture]) -> Origin:
    """Those of a capture that is read; `again` opens it anew."""

    def context() -> Context:
        try:
            return again().context
        except Unreadable:  # it is gone, or another file has its place
            return Context()

    return Origin(
        capture.name,
        packets=again,
        scenarios=lambda: capture.reader.scenarios,
        context=context,
    )


@dataclass(slots=True)
class Taken:
    """Exchanges in the order in which they ended, and which of them are wanted."""

    held: Sequence[tuple[int, Exchange]]
    wanted: Callable[[int, Exchange], bool]
    origin: Origin
    why: str
    """What makes a part of them, in words."""
    context: Context
    """Learns from all of them, so that each is shown with what was known when it passed."""
    gone: threading.Event
    """Set when nobody wants them any longer."""
    count: int = 0
    """How many were taken so far."""

    def exchanges(self) -> Iterator[Exchange]:
        """Those that are wanted."""
        for number, exchange in self.held:
            if self.gone.is_set():
                return
            self.context.learn(exchange)
            if self.wanted(number, exchange):
                self.count += 1
                yield exchange


class Form(NamedTuple):
    """One form."""

    name: str
    file: str
    """What the file is called."""
    kind: str
    """Its media type."""
    write: Callable[[Taken, BinaryIO], str]
    """Writes the file, and says in a line what is to be known of it beside the number of exchanges."""


def pcapng(taken: Taken, file: BinaryIO) -> str:
    """The packets, where they are at hand; else frames that are written anew, and the file says so."""
    found = list(taken.exchanges())
    if _repacked(taken, found, file):
        return ""
    left_out = reconstruct(found, file, Masking()).total()
    is_ = "is" if left_out == 1 else "are"
    lacks = f"; {plural(left_out, 'exchange')} {is_} left out, see the file" if left_out else ""
    return f"frames are written anew: the packets are gone{lacks}"


def jsonl(taken: Taken, file: BinaryIO) -> str:
    """The lines of `decode --json`."""
    lacking = 0
    for exchange in taken.exchanges():
        line = json_line(exchange, taken.context, elided)
        file.write(line.encode("utf-8", "surrogatepass") + b"\n")
        lacking += _lacks_body(exchange)
    return f"of {plural(lacking, 'exchange')} a body was not kept" if lacking else ""


def scenario(taken: Taken, file: BinaryIO) -> str:
    """What rules did to them."""
    found = list(taken.exchanges())
    sources = taken.origin.scenarios()
    again = excerpt(found, sources, taken.context.topics, taken.origin.faults)
    file.write(again.text.encode())
    if not any(each.rules for each in found):
        return "no rule fired on them"
    return "rules that hold no longer are left out, see the file" if again.left_out else ""


def pytest(taken: Taken, file: BinaryIO) -> str:
    """What was asked and answered, and what rules did to it. Raises NoTest."""
    found = list(taken.exchanges())
    again = ""
    if any(each.rules for each in found):
        sources = taken.origin.scenarios()
        again = excerpt(found, sources, taken.context.topics, taken.origin.faults).text
    file.write(as_pytest(found, taken.origin.name, again).encode("utf-8", "backslashreplace"))
    return "what is not asked again stands in the file" if len(found) > 1 else ""


FORMS: Final = (
    Form("pcapng", "exchanges.pcapng", "application/vnd.tcpdump.pcap", pcapng),
    Form("jsonl", "exchanges.jsonl", "application/jsonl", jsonl),
    Form("scenario", "again.yaml", "application/yaml", scenario),
    Form("pytest", "test_seen.py", "text/x-python", pytest),
)


def _repacked(taken: Taken, found: list[Exchange], file: BinaryIO) -> bool:
    """Write the packets of exchanges; False if they are not all at hand, and nothing is written."""
    if taken.origin.packets is None:
        return False
    wanted = set(map(_which, found))
    try:
        capture = taken.origin.packets()
        if sum(map(size_of, capture.reader.paths)) > LARGEST:
            return False
        survey = Survey(
            Selection(passes=lambda each: _which(each) in wanted), Masking(), capture.context
        )
        survey.read(capture.events())
        if survey.exchanges != len(found):
            return False
        repack(capture.reader, survey, capture.events(), file, taken.why)
    except (Unreadable, CaptureError):
        file.seek(0)
        file.truncate()
        return False
    return True


def _which(exchange: Exchange) -> tuple[int, ...]:
    """Tells exchanges of a capture apart, whoever reads them."""
    return exchange.ts, exchange.connection, exchange.key, exchange.correlation_id


def _lacks_body(exchange: Exchange) -> bool:
    sizes = exchange.request_size, exchange.response_size
    return any(
        size is not None and exchange.body(way) is None
        for way, size in zip(DIRECTIONS, sizes, strict=True)
    )
