"""`barnabas convert`: captures, or some of their exchanges, in another format."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, cast

from barnabas.captures.capture import Capture
from barnabas.captures.conversion.repacker import repack
from barnabas.captures.conversion.selection import Selection
from barnabas.captures.conversion.survey import Survey
from barnabas.captures.files import private
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.captures.kafka.wording import size
from barnabas.captures.tcp.events import Event
from barnabas.captures.writing.masking import Masking
from barnabas.cli.captures.convert_options import ConvertOptions
from barnabas.cli.captures.input import any_bar, bar, only_kafka, opened
from barnabas.cli.captures.remarks import lacking, left_over, remarks
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_filter
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble, os_errors

Format = Literal["pcapng", "jsonl", "scenario", "pytest"]

SUFFIXES: Final[dict[str, Format]] = {
    ".pcapng": "pcapng",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".yaml": "scenario",
    ".py": "pytest",
}
PACKED: Final = (".gz", ".zst")

LIMIT: Final = 1 << 30
"""The most bytes of bodies for a scenario or a test."""

STANDARD_OUTPUT: Final = Path("-")


def convert(options: ConvertOptions, output: Output | None = None) -> int:
    """Write captures in another format; return the exit code. Raises Trouble."""
    output = output or Output()
    *paths, out = options.files
    form = options.to or format_of(out)
    if out == STANDARD_OUTPUT and form == "pcapng":
        raise Trouble("standard output (-) takes text only: --to jsonl, scenario or pytest")
    only = options.only
    passes = None if only is None else parse_filter(only, output.context.topics, output.note)
    capture = opened(*paths, keys=read_keys(options.tls_keys), context=output.context)
    if form in ("jsonl", "pytest"):
        only_kafka(capture, f"--to {form}")
    for path in capture.reader.paths:
        if out.exists() and out.samefile(path):
            raise Trouble(f"{out} is one of the input files: write to another file")
    job = _Job(capture, out, _selection(options, capture, passes), options, output)
    try:
        job.write(form)
    except BrokenPipeError:  # the reader of stdout has closed it
        raise
    except OSError as problem:
        name = "standard output" if out == STANDARD_OUTPUT else out
        raise Trouble(f"{name} is not complete: {problem.strerror}", COULD_NOT_RUN) from None
    job.report()
    if job.damage:
        raise Trouble(f"{capture.name} is damaged: {job.damage}; {out} has all that could be read")
    return FINE


def _selection(options: ConvertOptions, capture: Capture, passes: Filter | None) -> Selection:
    """Return the selection of exchanges by the options. Raises Trouble."""
    begins = _beginning(capture) if options.since or options.until else 0
    since = None if options.since is None else options.since.after(begins)
    until = None if options.until is None else options.until.after(begins)
    if since is not None and until is not None and since >= until:
        raise Trouble("--since must be before --until")
    return Selection(options.connections, since, until, passes)


def format_of(out: Path) -> Format:
    """Return the format of a file's name. Raises Trouble for an unknown one.

    >>> format_of(Path("run.pcapng.gz")), format_of(Path("-"))
    ('pcapng', 'jsonl')
    """
    if out == STANDARD_OUTPUT:
        return "jsonl"
    name = out.with_suffix("") if out.suffix in PACKED else out
    try:
        return SUFFIXES[name.suffix]
    except KeyError:
        raise Trouble(
            f"unknown format of {out}: name it .pcapng, .jsonl, .yaml or .py, or give --to"
        ) from None


def _beginning(capture: Capture) -> int:
    try:
        return capture.reader.beginning()
    except CaptureError as problem:
        raise Trouble(f"{capture.name} is damaged: {problem}") from None


def _destination(out: Path, at_end: ExitStack) -> BinaryIO:
    """Open the file, compressed if its name says so. Raises Trouble.

    Only its owner may read it, as every capture that barnabas writes.
    """
    if out == STANDARD_OUTPUT:
        return sys.stdout.buffer
    if out.suffix == ".zst":
        try:
            import zstandard
        except ImportError:
            raise Trouble(
                f"{out}: zstd needs a package: install barnabas with the extra 'capture'"
            ) from None
    with os_errors(f"can't write {out}"):
        number = private.empty(out)
    file = at_end.enter_context(os.fdopen(number, "wb"))
    if out.suffix == ".gz":
        packed: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    elif out.suffix == ".zst":
        packed = zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    else:
        return file
    return cast(BinaryIO, at_end.enter_context(packed))


@dataclass(slots=True)
class _Job:
    """A conversion, and its counters."""

    capture: Capture
    out: Path
    selection: Selection
    options: ConvertOptions
    output: Output
    damage: CaptureError | None = None
    exchanges: int = 0
    of: int = 0
    connections: set[int] = field(default_factory=set)
    lost: Conversations = field(default_factory=Conversations)

    @property
    def masking(self) -> Masking:
        """Return what is left out of messages."""
        return Masking.of_payload() if self.options.redact else Masking()

    def write(self, form: Format) -> None:
        """Write the file. Raises Trouble, OSError."""
        data = self.text(form) if form in ("scenario", "pytest") else b""
        with ExitStack() as at_end:
            file = _destination(self.out, at_end)
            if form == "pcapng":
                self.packets(file)
            elif form == "jsonl":
                self.rows(file)
            else:
                file.write(data)
            file.flush()

    def rows(self, file: BinaryIO) -> None:
        """Write JSON Lines, reading the captures once; inferred responses, too, as `decode` shows them."""
        self.lost = Conversations(inferred=True)
        for exchange in self._selected():
            line = self.output.row(exchange)
            file.write(line.encode("utf-8", "surrogatepass") + b"\n")

    def _selected(self) -> Iterator[Exchange]:
        """Yield the selected exchanges, masked."""
        self.output.passes = self.selection.exchange
        masking = self.masking
        for exchange in self.lost.exchanges(self._events("converting")):
            self.capture.context.learn(exchange)
            self.of += 1
            if self.output.look(exchange):
                self.exchanges += 1
                self.connections.add(exchange.connection)
                yield masking.exchange(exchange)

    def _all_selected(self) -> list[Exchange]:
        """Return the selected exchanges, masked. Raises Trouble if they are too large."""
        exchanges, room = [], LIMIT
        for exchange in self._selected():
            exchanges.append(exchange)
            room -= exchange.weight
            if room < 0:
                raise Trouble(f"more than {LIMIT >> 20} MiB of messages: choose fewer by --filter")
        return exchanges

    def text(self, form: Format) -> bytes:
        """Return a scenario or a test. Raises Trouble."""
        from barnabas.peers.replay.as_pytest import NoTest, as_pytest
        from barnabas.proxy.excerpt import excerpt

        exchanges, scenario = self._all_selected(), ""
        if form == "scenario" or any(exchange.rules for exchange in exchanges):
            scenario = excerpt(
                exchanges, self.capture.reader.scenarios, self.capture.context.topics
            ).text
        try:
            text = (
                scenario
                if form == "scenario"
                else as_pytest(exchanges, self.capture.name, scenario)
            )
        except NoTest as problem:
            raise Trouble(str(problem), COULD_NOT_RUN) from None
        return text.encode("utf-8", "backslashreplace")

    def packets(self, file: BinaryIO) -> None:
        """Write a capture, reading the captures twice."""
        context = None if self.selection.everything else self.output.context
        masking, reader = self.masking, self.capture.reader
        survey = Survey(self.selection, masking, context)
        self.lost = survey.read(self._events("reading"))
        self.exchanges, self.of, self.connections = survey.exchanges, survey.of, survey.connections
        repack(reader, survey, self._events("writing"), file, self.options.slice)

    def _events(self, doing: str) -> Iterator[Event]:
        """Yield the events of the captures, and note the first damage."""
        # a bar would mix with the rows on a terminal
        progress = bar if self.out == STANDARD_OUTPUT else any_bar
        try:
            yield from self.capture.events(progress(self.output, doing))
        except CaptureError as problem:
            self.damage = problem

    def report(self) -> None:
        """Print what could not be read, and what was written."""
        for remark in (*remarks(self.capture), *lacking(self.capture), *left_over(self.lost)):
            self.output.note(remark)
        count = plural(self.of, "exchange")
        if self.exchanges != self.of:
            count = f"{self.exchanges} of {count}"
        line = f"{count} on {plural(len(self.connections), 'connection')}"
        if self.out != STANDARD_OUTPUT:
            line = f"{self.out}: {line}, {size(self.out.stat().st_size)}"
        self.output.note(line)
