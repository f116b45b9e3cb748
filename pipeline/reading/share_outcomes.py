"""Reads a share of a capture's connections: their rows, and the facts that complete the rows of all shares.

Each share is read by the reader of `captures/`, which passes over the packets of other shares. Each
connection has a context of its own, so that the outcomes do not depend on the number of shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.context import Context
from barnabas.captures.reader import UNNUMBERED, CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.tcp.share import Share
from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.capture_facts import capture_facts, unread_facts
from barnabas.pipeline.reading.event_rows import EventRows
from barnabas.pipeline.reading.outcomes import Outcome, Position
from barnabas.pipeline.rows.frames import Frames


class CaptureSettings(NamedTuple):
    """The capture to read, and the outcomes to yield. It can be pickled."""

    paths: Sequence[Path]
    columns: tuple[str, ...]
    """The columns of exchanges; other columns are not made."""
    secrets: Sequence[bytes] = ()
    """Key logs."""
    frames: bool = False
    """Whether to yield an outcome for each frame."""

    @property
    def context(self) -> bool:
        """Return whether a column needs names from earlier messages."""
        return not _CONTEXT.isdisjoint(self.columns)


_CONTEXT: Final = frozenset(("broker", "topics", "partitions", "transactional_id", "seen"))
"""Columns that names from other messages complete."""


def outcomes(capture: CaptureSettings, share: Share) -> Iterator[Outcome]:
    """Yield the outcomes of a share; the first share has the facts about the files, too. Raises OSError."""
    keys = KeyLog()
    for text in capture.secrets:
        keys.add(text)
    reading = _Reading(CaptureReader(*capture.paths, keys=keys, share=share), capture)
    yield from reading.outcomes(whole=not share.number)


@dataclass(slots=True)
class _Connection:
    """An open connection of a section."""

    section: int
    context: Context | None
    frames: Frames | None
    rows: EventRows[Outcome] = field(init=False)
    opened: Position | None = None
    """The position at which it opened; None: not yet."""


@dataclass(slots=True)
class _Reading:
    """The state of reading a share. at, flow, within: see `Position`."""

    reader: CaptureReader
    capture: CaptureSettings
    at: int = 0
    flow: int = 0
    within: int = 0
    open: dict[tuple[int, int], _Connection] = field(default_factory=dict)
    """By section and number."""
    flows: int = 0
    """Flows that have an outcome."""

    def outcomes(self, *, whole: bool) -> Iterator[Outcome]:
        reader = self.reader
        damage: CaptureError | None = None
        try:
            for event in reader:
                if event.connection or not isinstance(event, Lost):
                    yield from self._event(event)
                elif whole:  # a segment of the capture is missing
                    yield Outcome("loss", self._section, 0, self._position(), {})
                yield from self._opened_flows()
        except CaptureError as problem:
            damage = problem
        yield from self._opened_flows()
        self.at = (reader.numbered + 1) * 4 + 3
        for (_, number), connection in self.open.items():
            # They end in the order of their opening.
            opened = connection.opened or Position(0, 0, 0)
            self.flow, self.within = opened.at, opened.flow << 24
            yield from connection.rows.end_of(number)
            yield from self._end(number, connection)
        yield _fact("unread", unread_facts(reader))
        if whole:
            yield _fact("capture", capture_facts(reader, damage))

    @property
    def _section(self) -> int:
        return len(self.reader.sections) - 1

    def _opened_flows(self) -> Iterator[Outcome]:
        """Yield an outcome for each new flow: proxy connections without a name are numbered by them."""
        flows = self.reader.flow_numbers[self.flows :]
        self.flows += len(flows)
        for section, number in flows:
            yield Outcome("flow", section, number, Position(0, 0, 0), {})

    def _event(self, event: Event) -> Iterator[Outcome]:
        reader, number = self.reader, event.connection
        packet = max(reader.packet, event.packet if isinstance(event, Chunk) else 0)
        at = packet * 4 + reader.ending
        if at != self.at:
            self.at, self.within = at, 0
        self.flow = _beginning(number) if reader.ending else 0
        key = self._section, number
        if key not in self.open:
            self.open[key] = self._connection()
        connection = self.open[key]
        if isinstance(event, Opened):
            connection.opened = self._position()
        yield from connection.rows.event(event, packet)
        if isinstance(event, Closed):
            del self.open[key]
            yield from self._end(number, connection)
        elif connection.frames is not None:
            for frame in connection.frames.done(number, over=isinstance(event, Opened)):
                yield self._outcome(connection, "frame", number, frame)

    def _connection(self) -> _Connection:
        context = Context() if self.capture.context else None
        frames = Frames() if self.capture.frames else None
        connection = _Connection(self._section, context, frames)
        make = partial(self._outcome, connection)
        connection.rows = EventRows(make, self.capture.columns, context, frames=frames)
        return connection

    def _end(self, number: int, connection: _Connection) -> Iterator[Outcome]:
        """Yield the last frames of a connection, and the names that all connections need."""
        if connection.frames is not None:
            for frame in connection.frames.done(number, over=True):
                yield self._outcome(connection, "frame", number, frame)
        context = connection.context
        if context is None:
            return
        if context.forgotten:
            yield _fact("forgotten", {"count": context.forgotten})
        for topic, name in context.topics.items():
            yield _fact("topic", {"id": topic.hex, "name": name})
        for producer, name in context.producers.items():
            yield _fact("producer", {"id": producer, "name": name})
        brokers = context.brokers
        for address, node in brokers.nodes.items():
            details = {"address": address, "node": node, "cluster": brokers.cluster}
            yield _fact("broker", {**details, "several": brokers.several})

    def _outcome(
        self, connection: _Connection, kind: str, number: int, details: dict[str, Any]
    ) -> Outcome:
        position = self._position()
        if kind == "exchange":
            return Outcome(kind, connection.section, number, position, {}, details)
        if kind == "connection":
            position = connection.opened or position
        return Outcome(kind, connection.section, number, position, details)

    def _position(self) -> Position:
        self.within += 1
        return Position(self.at, self.flow, self.within)


def _beginning(number: int) -> int:
    """Return a number by which flows are in the order in which the sequential reader ends them."""
    return number - UNNUMBERED if number >= UNNUMBERED else number


def _fact(kind: str, details: dict[str, Any]) -> Outcome:
    """Return an outcome that several connections may yield: equal ones are equal values."""
    return Outcome(kind, 0, 0, Position(0, 0, 0), details)
