"""The formats in which the page gives exchanges away as a file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
from barnabas.page.as_client_test import LANGUAGES, Language, as_client_test
from barnabas.peers.replay.as_pytest import NoTest, as_pytest
from barnabas.plural import plural
from barnabas.proxy.excerpt import Source, excerpt
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.jsonform import elided

LARGEST: Final = 1 << 30
"""The size in bytes up to which a capture is searched for packets."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The capture or the proxy from which exchanges are."""

    name: str
    packets: Callable[[], Capture] | None = None
    """Opens the capture that has their packets; it may raise Unreadable. None: there is no capture."""
    scenarios: Callable[[], Sequence[Source]] = tuple
    """Returns the scenarios that were in effect."""
    faults: tuple[Fault, ...] = FAULTS
    """The faults that their rules may name."""
    context: Callable[[], Context] = Context
    """Makes the context before the first exchange."""


def of_capture(capture: Capture, reopen: Callable[[], Capture]) -> Origin:
    """Return the origin of exchanges that are read from a capture.

    reopen: Opens the capture anew.
    """

    def context() -> Context:
        try:
            return reopen().context
        except Unreadable:  # the file was removed or replaced
            return Context()

    return Origin(
        capture.name,
        packets=reopen,
        scenarios=lambda: capture.reader.scenarios,
        context=context,
    )


@dataclass(slots=True)
class ExchangeSelection:
    """Exchanges in the order in which they ended, and a selection of them."""

    held: Sequence[tuple[int, Exchange]]
    selects: Callable[[int, Exchange], bool]
    origin: Origin
    description: str
    """The description of the selection."""
    context: Context
    """Learns from all exchanges, so that each is written with the names known when it passed."""
    gone: threading.Event
    """Set when the client has closed the connection."""
    count: int = 0
    """The number of exchanges that were selected so far."""

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the selected exchanges, until the client has closed the connection."""
        for number, exchange in self.held:
            if self.gone.is_set():
                return
            self.context.learn(exchange)
            if self.selects(number, exchange):
                self.count += 1
                yield exchange


class Form(NamedTuple):
    """A file format."""

    name: str
    file: str
    """The name of the file."""
    kind: str
    """The media type."""
    write: Callable[[ExchangeSelection, BinaryIO], str]
    """Writes the file, and returns a remark on it; empty: none."""


def pcapng(selection: ExchangeSelection, file: BinaryIO) -> str:
    """Write the packets of the exchanges, or reconstructed frames if packets are missing."""
    exchanges = list(selection.exchanges())
    if _repacked(selection, exchanges, file):
        return ""
    left_out = reconstruct(exchanges, file, Masking()).total()
    is_ = "is" if left_out == 1 else "are"
    lacks = f"; {plural(left_out, 'exchange')} {is_} left out, see the file" if left_out else ""
    return f"frames are reconstructed: the packets are no longer kept{lacks}"


def jsonl(selection: ExchangeSelection, file: BinaryIO) -> str:
    """Write the lines of `decode --json`."""
    lacking = 0
    for exchange in selection.exchanges():
        line = json_line(exchange, selection.context, elided)
        file.write(line.encode("utf-8", "surrogatepass") + b"\n")
        lacking += _lacks_body(exchange)
    return f"of {plural(lacking, 'exchange')} a body was not kept" if lacking else ""


def scenario(selection: ExchangeSelection, file: BinaryIO) -> str:
    """Write a scenario that repeats the effects of rules on the exchanges."""
    exchanges = list(selection.exchanges())
    sources = selection.origin.scenarios()
    written = excerpt(exchanges, sources, selection.context.topics, selection.origin.faults)
    file.write(written.text.encode())
    if not any(each.rules for each in exchanges):
        return "no rule fired on them"
    return "rules that no known scenario has are left out, see the file" if written.left_out else ""


def pytest(selection: ExchangeSelection, file: BinaryIO) -> str:
    """Write a test that sends the requests again, under the rules that fired. Raises NoTest."""
    exchanges = list(selection.exchanges())
    scenario_text = ""
    if any(each.rules for each in exchanges):
        sources = selection.origin.scenarios()
        scenario_text = excerpt(
            exchanges, sources, selection.context.topics, selection.origin.faults
        ).text
    file.write(
        as_pytest(exchanges, selection.origin.name, scenario_text).encode(
            "utf-8", "backslashreplace"
        )
    )
    return "the file lists the requests that are not repeated" if len(exchanges) > 1 else ""


def client_test(language: Language, selection: ExchangeSelection, file: BinaryIO) -> str:
    """Write a test whose client meets what the client of the one exchange met. Raises NoTest."""
    exchanges = list(selection.exchanges())
    if len(exchanges) > 1:
        raise NoTest("a test of a client is of one exchange: choose one")
    origin, topics = selection.origin, selection.context.topics
    for exchange in exchanges:
        text = as_client_test(language, exchange, origin.scenarios(), topics, origin.faults)
        file.write(text.encode())
    return ""


FORMS: Final = (
    Form("pcapng", "exchanges.pcapng", "application/vnd.tcpdump.pcap", pcapng),
    Form("jsonl", "exchanges.jsonl", "application/jsonl", jsonl),
    Form("scenario", "again.yaml", "application/yaml", scenario),
    Form("pytest", "test_seen.py", "text/x-python", pytest),
    *(
        Form(language.name, language.file, "text/plain", partial(client_test, language))
        for language in LANGUAGES
    ),
)


def _repacked(selection: ExchangeSelection, exchanges: list[Exchange], file: BinaryIO) -> bool:
    """Write the packets of exchanges; if some are missing, write nothing and return False."""
    if selection.origin.packets is None:
        return False
    identities = {exchange.identity for exchange in exchanges}
    try:
        capture = selection.origin.packets()
        if sum(map(size_of, capture.reader.paths)) > LARGEST:
            return False
        survey = Survey(
            Selection(passes=lambda each: each.identity in identities), Masking(), capture.context
        )
        survey.read(capture.events())
        if survey.exchanges != len(exchanges):
            return False
        repack(capture.reader, survey, capture.events(), file, selection.description)
    except (Unreadable, CaptureError):
        file.seek(0)
        file.truncate()
        return False
    return True


def _lacks_body(exchange: Exchange) -> bool:
    sizes = exchange.request_size, exchange.response_size
    return any(
        size is not None and exchange.body(direction) is None
        for direction, size in zip(DIRECTIONS, sizes, strict=True)
    )
