"""The reading of a capture that is still being written, segment after segment.

What is open between two of them (requests that wait, bytes of a frame that was cut, names that were learnt)
is in `Carried`, which can be pickled: segments that are fed one by one, by whatever process, come to the same
rows as all at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from barnabas.captures.comments import document, meta_of
from barnabas.captures.files.capture_folder import Segment, segment_of
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
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.framing.protocol_detection import Kind
from barnabas.captures.section import Join
from barnabas.captures.tcp.events import Closed, Event, Lost, Opened
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tls.decryption import Decryption, Seen
from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.shortfalls import forgotten, left, missing
from barnabas.pipeline.rows.columns import EXCHANGES, RAW
from barnabas.pipeline.rows.exchanges import NO_RESPONSE, row, software_of

Table = Literal["exchanges", "errors", "connections", "notes"]

COLUMNS: Final = tuple(column.name for column in (*EXCHANGES, *RAW))


class Found(NamedTuple):
    """A row of a table; one of an exchange has RAW behind it."""

    table: Table
    row: dict[str, Any]


class Carried:
    """One capture, as far as its segments have been read. `name`: what it is called in the tables."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.context = Context()
        """What was learnt so far."""
        self.last: Segment | None = None
        """The latest segment that was read."""
        self._file = ""
        self._packets = Packets()
        self._number = 0
        """Of the packet that was read last, counted over all segments."""
        self._conversations = Conversations()
        left_out: Counter[tuple[int, Kind]] = Counter()
        self._join = Join(True, 0, left_out, Decryption(KeyLog(), Seen(), left_out), {})
        self._software: dict[int, str] = {}
        self._connections: dict[int, dict[str, Any]] = {}

    def segment(self, path: Path) -> Iterator[Found]:
        """The rows that a segment completes. What is damaged in it is an error's row. Raises OSError."""
        self._file = str(path)
        with CaptureFile(path) as file:
            try:
                for block in file.blocks():
                    yield from self._block(block)
            except CaptureError as problem:
                yield self._error("corrupt", problem.reason, offset=problem.offset)

    def missing(self, numbers: range) -> Iterator[Found]:
        """These segments will never come."""
        if not numbers:
            return
        said = (
            f"segment {numbers[0]}"
            if len(numbers) == 1
            else f"segments {numbers[0]} to {numbers[-1]}"
        )
        self._file = ""
        yield self._error(
            "missing", f"{said} of the capture {'is' if len(numbers) == 1 else 'are'} not there"
        )
        list(self._conversations.event(Lost(0, "arrived", "request", 0, 0)))

    def end(self) -> Iterator[Found]:
        """No more segments will come: what is open is given up."""
        for event in self._join.end():
            yield from self._event(event)
        for number in self._conversations.open:
            yield from self._over(number, self._conversations.end_of(number), None)
            yield from self._connection(number)
        if self.context.forgotten:
            self._file = ""
            yield self._error("forgotten", forgotten(self.context.forgotten))

    def _block(self, block: object) -> Iterator[Found]:
        if isinstance(block, Packet):
            self._number += 1
            for event in self._join.packet(block, self._packets, self._number):
                yield from self._event(event)
        elif isinstance(block, Section):
            meta = meta_of(block)
            self.last = segment_of(meta) or self.last
            if self.last is None or self.last.number == 1:
                yield self._note(0, {**meta, "barnabas": "section"})
        elif isinstance(block, Statistics):
            for text in block.comments:
                yield self._note(block.ts_ns, document(text))
        elif isinstance(block, Other):
            self._number += block.kind in NUMBERED
        elif isinstance(block, Truncated):
            yield self._error("truncated", "the file ends in a block", offset=block.file_offset)

    def _event(self, event: Event) -> Iterator[Found]:
        number = event.connection
        if isinstance(event, Opened):
            self._software.pop(number, None)
            broker = event.comment.get("broker")
            self._connections[number] = {
                "client_address": event.comment.get("client", event.client),
                "server_address": event.server,
                "opened_ns": event.ts_ns,
                "whole": event.whole,
                "broker": broker if isinstance(broker, int) else None,
                "said": json.dumps(event.comment) if event.comment else None,
            }
        if isinstance(event, Closed):
            yield from self._over(number, self._conversations.event(event), event.ts_ns)
            if number in self._connections:
                self._connections[number] |= {"closed_ns": event.ts_ns, "reset": event.reset}
            yield from self._connection(number)
            return
        losses = self._conversations.losses
        for exchange in self._conversations.event(event):
            yield from self._exchange(exchange, event.ts_ns)
        if self._conversations.losses == losses:
            return
        about: dict[str, Any] = {"connection": number, "ts_ns": event.ts_ns}
        if isinstance(event, Lost):
            size = event.bytes
            yield self._error(
                "gap", missing(size), bytes=size or None, direction=event.direction, **about
            )
        elif not isinstance(event, Opened):
            reason = "bytes that begin no frame"
            packet = event.packet or None
            yield self._error("unframed", reason, direction=event.direction, packet=packet, **about)

    def _over(
        self, number: int, exchanges: Iterable[Exchange], ts_ns: int | None
    ) -> Iterator[Found]:
        """The end of a connection: what was left, and what could not be read."""
        undecoded, skipped = self._conversations.undecoded, self._conversations.skipped
        for exchange in exchanges:
            yield from self._exchange(exchange, ts_ns)
        for kind, reason, size in left(self._conversations, undecoded, skipped):
            yield self._error(kind, reason, connection=number, bytes=size, ts_ns=ts_ns)

    def _connection(self, number: int) -> Iterator[Found]:
        said = self._connections.pop(number, None)
        self._software.pop(number, None)
        if said is not None:
            row = {
                "capture": self.name,
                "connection": number,
                "closed_ns": None,
                "reset": None,
                **said,
            }
            yield Found("connections", row)

    def _exchange(self, exchange: Exchange, ts_ns: int | None) -> Iterator[Found]:
        number = exchange.connection
        exchange.losses = self._conversations.losses
        if exchange.key == STRAY:
            reason = (
                f"a response to correlation id {exchange.correlation_id}, which nobody asked for"
            )
            yield self._error(
                "unmatched",
                reason,
                connection=number,
                bytes=exchange.response_size,
                direction="response",
                ts_ns=exchange.ts,
                packet=exchange.response_packet,
            )
            return
        self.context.learn(exchange)
        if number not in self._software:
            software = software_of(exchange)
            if software:
                self._software[number] = software
        over = ts_ns if exchange.latency_ms is None and exchange.note != NO_RESPONSE else None
        columns = row(
            exchange,
            self.context,
            capture=self.name,
            software=self._software.get(number),
            end_ns=over,
            columns=COLUMNS,
        )
        yield Found("exchanges", columns)
        if columns["undecodable"]:
            yield self._error(
                "undecoded",
                columns["undecodable"],
                connection=number,
                ts_ns=exchange.ts,
                packet=exchange.request_packet,
            )

    def _note(self, ts_ns: int, said: dict[str, Any]) -> Found:
        row = {
            "capture": self.name,
            "ts": datetime.fromtimestamp(ts_ns / 1e9, UTC) if ts_ns else None,
            "kind": str(said.get("barnabas", "text")),
            "said": json.dumps(said),
        }
        return Found("notes", row)

    def _error(self, kind: str, reason: str, **about: Any) -> Found:
        said = {"capture": self.name, "kind": kind, "reason": reason, **about}
        if "connection" not in about and self._file:
            said["file"] = self._file
        return Found("errors", said)
