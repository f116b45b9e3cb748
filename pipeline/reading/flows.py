"""Reads one flow after another, with the reassembly, TLS, protocol detection and pairing of captures/.

A flow is a conversation between two endpoints, or all conversations of one connection through a proxy. Memory
is bounded by the frames in transit in one flow, whatever its length.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from barnabas.captures.host_port import Endpoint
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.framing.protocol_detection import OtherProtocol
from barnabas.captures.section import SectionReader
from barnabas.captures.tcp.events import Closed, Event, Linked, Opened
from barnabas.captures.tcp.fast_headers import FastTcpSegment
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.captures.tls.decryption import Decryption, TlsCounts
from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.bulk_reassembly import BulkReassembly
from barnabas.pipeline.reading.endpoints import endpoints
from barnabas.pipeline.reading.event_rows import EventRows
from barnabas.pipeline.reading.file_bytes import MappedFiles
from barnabas.pipeline.reading.outcomes import Outcome, Position
from barnabas.pipeline.reading.plan import SectionGroup
from barnabas.pipeline.reading.runs import Run, SegmentRow, runs
from barnabas.pipeline.reading.side_tables import forgotten_reason
from barnabas.pipeline.reading.tcp_segments import CAREFUL, FORWARD, INLINE
from barnabas.pipeline.rows.frames import Frames

UNNUMBERED: Final = 1 << 40
"""Flows without a number from the proxy are numbered by their first packet, from this number on."""


class FlowSettings(NamedTuple):
    """The settings that all flows share. They can be pickled."""

    columns: tuple[str, ...]
    """The columns of exchanges; other columns are not made."""
    section_groups: Sequence[SectionGroup]
    packets: int
    secrets: tuple[bytes, ...] = ()
    """Key logs."""
    frames: bool = False
    """Whether to yield an outcome for each frame; then none is skipped quickly."""

    @property
    def context(self) -> bool:
        """Return whether a column needs names from earlier messages."""
        return not _CONTEXT.isdisjoint(self.columns)


_CONTEXT: Final = frozenset(("broker", "topics", "partitions", "transactional_id", "seen"))
"""Columns that names from other messages complete."""


_ENDS: Final = (Opened, Closed)
"""Events that end the preceding connection with the same number."""


def outcomes(
    rows: Iterable[SegmentRow], reading: FlowSettings, keys: KeyLog, files: MappedFiles
) -> Iterator[Outcome]:
    """Yield the outcomes of the rows of one flow. Raises OSError."""
    following = iter(rows)
    first = next(following)
    flow = _Flow(first.section_group, reading, keys)

    def all_rows() -> Iterator[SegmentRow]:
        yield first
        yield from following

    for run in runs(all_rows()):
        path = run.row.path
        if path is None:
            yield from flow.run(run, run.row.data)
        else:
            yield from flow.run(run, files[path])
            files.passed(path, int(run.segments["at"][-1]))
    yield from flow.end()


class _Flow:
    """The state of reading one flow."""

    def __init__(self, section_group: int, reading: FlowSettings, keys: KeyLog) -> None:
        self._section_group = section_group
        self._reading = reading
        self._ours = reading.section_groups[section_group].ours
        self._number = 0
        """The number of the current packet."""
        self._at = 0
        self._flow = 0
        self._within = 0
        """See Position."""
        self._left_out: Counter[tuple[int, OtherProtocol]] = Counter()
        self._linked: dict[int, Linked] = {}
        self._seen = TlsCounts()
        self._created: list[int] = []
        decryption = Decryption(keys, self._seen, self._left_out)
        numbers = self._numbers()
        self._section = SectionReader(
            self._ours, 0, self._left_out, decryption, self._linked, numbers
        )
        self._frames = Frames() if reading.frames else None
        self._context = Context() if reading.context else None
        self._rows = EventRows(self._outcome, reading.columns, self._context, frames=self._frames)
        self._opened: dict[int, Position] = {}
        """The positions at which the open connections opened."""
        self._begun_ns = 0

    def _numbers(self) -> Iterator[int]:
        while True:
            self._created.append(self._number)
            yield UNNUMBERED + self._number

    def run(self, run: Run, plain: Any) -> Iterator[Outcome]:
        """Yield the outcomes of some packets. `plain` has the payloads that are not INLINE."""
        row, segments = run
        inline: Any = row.data
        view = memoryview(plain)
        ends = endpoints(row.ends)
        names = (b"<" + row.ends, b">" + row.ends)
        packets = BulkReassembly(segments)
        if not self._begun_ns:
            self._begun_ns = int(segments["ts_ns"][0])
        index = 0
        while index < len(packets):
            index = self._absorb(packets, index, view, names)
            if index == len(packets):
                break
            packet = packets[index]
            number, ts_ns, at, size, seq, ack, _, flags, kind = packet
            forward = bool(kind & FORWARD)
            index += 1
            self._number = number
            events: Iterable[Event] | None = None
            fast_segment = None
            if not kind & CAREFUL:
                fast_segment = FastTcpSegment(names[forward], seq, ack, flags, at, at + size)
                events = self._section.take_fast(fast_segment, view, ts_ns, number)
            if events is None:
                source = inline if kind & INLINE else plain
                segment, comments = _segment(packet, ends, source)
                events = self._section.tcp_segment(segment, ts_ns, comments, number, fast_segment)
            elif not events:
                continue
            self._at, self._flow, self._within = number * 4, 0, 0
            for event in events:
                yield from self._event(event, number)
                if self._frames is not None:
                    yield from self._cut_out(event.connection, over=isinstance(event, _ENDS))
            if self._created:
                yield from self._flows()

    def _absorb(
        self, packets: BulkReassembly, index: int, data: memoryview, names: tuple[bytes, bytes]
    ) -> int:
        """Skip packets in the middle of frames."""
        for forward in (True, False):
            lane = self._section.flows.lane_of(names[forward])
            if lane is not None:
                flow, half, _ = lane
                ahead = forward == (half.direction == "request")
                return packets.absorb(flow, index, data, forward=ahead)
        return index

    def _flows(self) -> Iterator[Outcome]:
        """Yield an outcome for each new flow; proxy connections without a name are numbered by them."""
        for number in self._created:
            if self._ours:
                yield self._outcome("flow", UNNUMBERED + number, {})
        self._created.clear()

    def end(self) -> Iterator[Outcome]:
        """Yield the outcomes at the end of the flow's group of sections, and then of all files."""
        section_group = self._reading.section_groups[self._section_group]
        self._at, self._flow, self._within = section_group.end * 4 + 1, 0, 0
        for event in self._section.end():
            self._flow = self._begun(event)
            yield from self._event(event, 0)
            yield from self._cut_out(event.connection, over=isinstance(event, _ENDS))
        for (port, kind), count in sorted(self._left_out.items()):
            reasons = ", ".join(sorted(self._seen.unread)) if kind == "TLS" else ""
            conversations = f"{count} conversation{'s' * (count > 1)} on port {port}"
            reason = f"{conversations}: {kind}" + (f" ({reasons})" if reasons else "")
            yield self._error("left out", reason)
        for reason, _ in sorted(self._seen.broken.items()):
            yield self._error("TLS", f"read in part: {reason}")
        for connection in self._rows.conversations.open:
            # ordered by their opening
            self._at = (self._reading.packets + 1) * 4 + 3
            self._flow, opened, _ = self._opened.get(connection, (0, 0, 0))
            self._within = opened << 24
            yield from self._rows.end_of(connection)
            yield from self._cut_out(connection, over=True)
        yield from self._learnt()

    def _begun(self, event: Event) -> int:
        """Return the beginning of an event's flow, which orders the outcomes at the end."""
        number = event.connection
        return number - UNNUMBERED if number >= UNNUMBERED else number

    def _cut_out(self, connection: int, *, over: bool) -> Iterator[Outcome]:
        """Yield the completed frames."""
        if self._frames is not None:
            for frame in self._frames.done(connection, over=over):
                yield self._outcome("frame", connection, frame)

    def _event(self, event: Event, packet: int) -> Iterator[Outcome]:
        if isinstance(event, Opened):
            self._opened[event.connection] = self._position()
        return self._rows.event(event, packet)

    def _learnt(self) -> Iterator[Outcome]:
        """Yield the names that all connections need."""
        if self._context is None:
            return
        if self._context.forgotten:
            yield self._error("forgotten", forgotten_reason(self._context.forgotten))
        for topic, name in sorted(self._context.topics.items()):
            yield _shared_outcome("topic", {"id": topic.hex, "name": name})
        for producer, name in sorted(self._context.producers.items()):
            yield _shared_outcome("producer", {"id": producer, "name": name})
        brokers = self._context.brokers
        for address, node in sorted(brokers.nodes.items()):
            details = {"address": address, "node": node, "cluster": brokers.cluster}
            yield _shared_outcome("broker", {**details, "several": brokers.several})

    def _error(self, kind: str, reason: str) -> Outcome:
        return self._outcome("error", 0, {"kind": kind, "reason": reason, "ts_ns": self._begun_ns})

    def _outcome(self, kind: str, connection_key: int, details: dict[str, Any]) -> Outcome:
        if kind == "exchange":
            return Outcome(kind, self._section_group, connection_key, self._position(), {}, details)
        position = self._opened.pop(connection_key) if kind == "connection" else self._position()
        return Outcome(kind, self._section_group, connection_key, position, details)

    def _position(self) -> Position:
        self._within += 1
        return Position(self._at, self._flow, self._within)


def _segment(
    packet: tuple[int, ...], ends: Sequence[Endpoint], source: bytes
) -> tuple[TcpSegment, tuple[str, ...]]:
    """Return the segment of a packet, and its comments, from the bytes that contain both."""
    _, _, at, size, seq, ack, comment_size, flags, kind = packet
    comments = (
        tuple(json.loads(source[at + size : at + size + comment_size])) if comment_size else ()
    )
    source_end, target_end = ends if kind & FORWARD else ends[::-1]
    return TcpSegment(source_end, target_end, seq, ack, flags, source[at : at + size]), comments


def _shared_outcome(kind: str, details: dict[str, Any]) -> Outcome:
    """Return an outcome that several flows may yield: equal ones are equal values."""
    return Outcome(kind, 0, 0, Position(0, 0, 0), details)
