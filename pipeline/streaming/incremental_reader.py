"""Reads a growing capture, segment by segment.

`IncrementalReader` has everything that is open between two segments (requests in flight, bytes of a partial
frame, learnt names); `state.py` writes and reads it. Segments that are read one by one, by any process, give
the same rows as all segments at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from barnabas.captures.comments import document, meta_of
from barnabas.captures.files.capture_folder import Segment as FileSegment
from barnabas.captures.files.capture_folder import segment_of
from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import (
    NUMBERED,
    CaptureError,
    Other,
    Packet,
    Section,
    Statistics,
    Truncated,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.framing.protocol_detection import OtherProtocol
from barnabas.captures.section import SectionReader
from barnabas.captures.tcp.events import Event, Lost
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tls.decryption import Decryption, TlsCounts
from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.capture_facts import forgotten_reason
from barnabas.pipeline.reading.event_rows import EventRows
from barnabas.pipeline.reading.side_tables import connection_row, note_row
from barnabas.pipeline.rows.columns import EXCHANGES, RAW
from barnabas.pipeline.rows.inside import inside_row
from barnabas.pipeline.tables.quality import ReadTotals

Table = Literal["exchanges", "inside", "errors", "connections", "notes", "quality"]

COLUMNS: Final = tuple(column.name for column in (*EXCHANGES, *RAW))


class TableRow(NamedTuple):
    """A row of a table. A row of exchanges also has RAW, a row of quality only the amounts that were read."""

    table: Table
    row: dict[str, Any]


class _NoDecryption(Decryption):
    """A decryption that leaves TLS out: ciphers can't be saved between two batches."""

    def lets_through(self, event: Event) -> bool:
        """Return True: no conversation is decrypted."""
        return True


class IncrementalReader:
    """A capture, as far as its segments have been read.

    `name` is its name in the tables. `ours` says whether a proxy writes it.
    """

    def __init__(self, name: str, *, ours: bool = True) -> None:
        self.name = name
        self.context = Context()
        """The names and facts learnt so far."""
        self.last: FileSegment | None = None
        """The last segment that was read."""
        self._file = ""
        self._packets = Packets()
        self._number = 0
        """The number of the last packet, over all segments."""
        self._rows = EventRows(self._table_row, COLUMNS, self.context, capture=name)
        left_out: Counter[tuple[int, OtherProtocol]] = Counter()
        decryption = _NoDecryption(KeyLog(), TlsCounts(), left_out)
        self._section = SectionReader(ours, 0, left_out, decryption, {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._rows.make = self._table_row

    def segment(self, path: Path) -> Iterator[TableRow]:
        """Yield the rows that a segment completes. Damage becomes a row of errors. Raises OSError."""
        self._file = str(path)
        before = self._number
        with CaptureFile(path) as file:
            try:
                for block in file.blocks():
                    yield from self._block(block)
            except CaptureError as problem:
                yield self._error("corrupt", problem.reason, offset=problem.offset)
        read = ReadTotals(1, path.stat().st_size, self._number - before)
        yield TableRow("quality", {"capture": self.name, **read._asdict()})

    def missing(self, numbers: range) -> Iterator[TableRow]:
        """Yield a row for segments that will never come."""
        if not numbers:
            return
        first, last = numbers[0], numbers[-1]
        text = f"segment {first}" if first == last else f"segments {first} to {last}"
        verb = "is" if first == last else "are"
        self._file = ""
        yield self._error("missing", f"{text} of the capture {verb} not there")
        list(self._rows.conversations.event(Lost(0, "arrived", "request", 0, 0)))

    def end(self) -> Iterator[TableRow]:
        """Yield the last rows of a finished capture: open connections are given up."""
        for event in self._section.end():
            yield from self._event(event)
        for number in self._rows.conversations.open:
            yield from filter(None, self._rows.end_of(number))
        if self.context.forgotten:
            self._file = ""
            yield self._error("forgotten", forgotten_reason(self.context.forgotten))

    def _block(self, block: object) -> Iterator[TableRow]:
        if isinstance(block, Packet):
            self._number += 1
            for event in self._section.packet(block, self._packets, self._number):
                yield from self._event(event)
        elif isinstance(block, Section):
            meta = meta_of(block)
            self.last = segment_of(meta) or self.last
            if meta and (self.last is None or self.last.number == 1):
                yield self._note(0, {**meta, "barnabas": "section"})
        elif isinstance(block, Statistics):
            for text in block.comments:
                yield self._note(block.ts_ns, document(text))
        elif isinstance(block, Other):
            self._number += block.kind in NUMBERED
        elif isinstance(block, Truncated):
            yield self._error("truncated", "the file ends within a block", offset=block.file_offset)

    def _event(self, event: Event) -> Iterator[TableRow]:
        return filter(None, self._rows.event(event))

    def _table_row(self, kind: str, connection: int, values: dict[str, Any]) -> TableRow | None:
        """Return a row of an event; a loss has none, since each exchange has its count."""
        if kind == "exchange":
            return TableRow("exchanges", values)
        if kind == "inside":
            return TableRow("inside", inside_row(values, connection, self.name, {}))
        if kind == "connection":
            return TableRow("connections", connection_row(values, connection, self.name))
        return self._error(**values, connection=connection) if kind == "error" else None

    def _note(self, ts_ns: int, content: dict[str, Any]) -> TableRow:
        return TableRow("notes", note_row(ts_ns, content, self.name))

    def _error(self, kind: str, reason: str, **details: Any) -> TableRow:
        values = {"capture": self.name, "kind": kind, "reason": reason, **details}
        if "connection" not in details and self._file:
            values["file"] = self._file
        return TableRow("errors", values)
