"""Reads one flow after the other, by the reassembly, TLS, protocol detection and pairing of captures/.

A flow is a conversation between two ends, or all that belong to a connection of ours. Memory is bounded
by what is under way in one flow, however long it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from barnabas.captures.host_port import Endpoint
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.framing.protocol_detection import Kind
from barnabas.captures.section import SectionReader
from barnabas.captures.tcp.events import Closed, Event, Linked, Opened
from barnabas.captures.tcp.fast_headers import FastTcpSegment
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.captures.tls.decryption import Decryption, Seen
from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.bulk_reassembly import BulkReassembly
from barnabas.pipeline.reading.endpoints import endpoints
from barnabas.pipeline.reading.event_rows import EventRows
from barnabas.pipeline.reading.mapped_files import MappedFiles
from barnabas.pipeline.reading.outcomes import Outcome, Place
from barnabas.pipeline.reading.plan import SectionGroup
from barnabas.pipeline.reading.runs import Row, Run, runs
from barnabas.pipeline.reading.shortfalls import forgotten
from barnabas.pipeline.reading.tcp_segments import CAREFUL, FORWARD, INLINE
from barnabas.pipeline.rows.frames import Frames

OWN: Final = 1 << 40
"""Flows that no comment numbers are called by the number of their first packet, from here on."""


class Reading(NamedTuple):
    """What is the same for all flows. To be pickled."""

    columns: tuple[str, ...]
    """Of an exchange's row: what is not asked for is not made."""
    section_groups: Sequence[SectionGroup]
    packets: int
    secrets: tuple[bytes, ...] = ()
    """Key logs."""
    frames: bool = False
    """Whether there is an outcome of each frame, too: then none is passed over quickly."""

    @property
    def context(self) -> bool:
        """Whether a column needs to know what was said before."""
        return not _CONTEXT.isdisjoint(self.columns)


_CONTEXT: Final = frozenset(("broker", "topics", "partitions", "transactional_id", "seen"))
"""Columns that names learnt elsewhere complete."""


_ENDS: Final = (Opened, Closed)
"""What ends the connection that had the number before."""


def outcomes(
    rows: Iterable[Row], reading: Reading, keys: KeyLog, files: MappedFiles
) -> Iterator[Outcome]:
    """What the rows of one flow come to. Raises OSError."""
    coming = iter(rows)
    first = next(coming)
    flow = _Flow(first.section_group, reading, keys)

    def all_rows() -> Iterator[Row]:
        yield first
        yield from coming

    for run in runs(all_rows()):
        path = run.row.path
        if path is None:
            yield from flow.run(run, run.row.data)
        else:
            yield from flow.run(run, files[path])
            files.passed(path, int(run.segments["at"][-1]))
    yield from flow.end()


class _Flow:
    """The reading of one flow."""

    def __init__(self, section_group: int, reading: Reading, keys: KeyLog) -> None:
        self._section_group = section_group
        self._reading = reading
        self._ours = reading.section_groups[section_group].ours
        self._number = 0
        """Of the packet that is being read."""
        self._at = 0
        self._flow = 0
        self._within = 0
        """See Place."""
        self._left_out: Counter[tuple[int, Kind]] = Counter()
        self._linked: dict[int, Linked] = {}
        self._seen = Seen()
        self._created: list[int] = []
        decryption = Decryption(keys, self._seen, self._left_out)
        numbers = self._numbers()
        self._section = SectionReader(
            self._ours, 0, self._left_out, decryption, self._linked, numbers
        )
        self._frames = Frames() if reading.frames else None
        self._context = Context() if reading.context else None
        self._rows = EventRows(self._outcome, reading.columns, self._context, frames=self._frames)
        self._opened: dict[int, Place] = {}
        """When the connections that are open opened."""
        self._begun_ns = 0

    def _numbers(self) -> Iterator[int]:
        while True:
            self._created.append(self._number)
            yield OWN + self._number

    def run(self, run: Run, plain: Any) -> Iterator[Outcome]:
        """Yield what some packets bring. plain: the bytes that have the payload that is not INLINE."""
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
            found = None
            if not kind & CAREFUL:
                found = FastTcpSegment(names[forward], seq, ack, flags, at, at + size)
                events = self._section.take_fast(found, view, ts_ns, number)
            if events is None:
                source = inline if kind & INLINE else plain
                segment, comments = _segment(packet, ends, source)
                events = self._section.tcp_segment(segment, ts_ns, comments, number, found)
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
        """Pass over packets in the middle of frames."""
        for forward in (True, False):
            lane = self._section.flows.lane_of(names[forward])
            if lane is not None:
                flow, half, _ = lane
                ahead = forward == (half.direction == "request")
                return packets.absorb(flow, index, data, forward=ahead)
        return index

    def _flows(self) -> Iterator[Outcome]:
        """Flows that have begun: those of ours that have lost their name are counted by them."""
        for number in self._created:
            if self._ours:
                yield self._outcome("flow", OWN + number, {})
        self._created.clear()

    def end(self) -> Iterator[Outcome]:
        """There are no more packets of it: its group of sections is over, and then all files are."""
        section_group = self._reading.section_groups[self._section_group]
        self._at, self._flow, self._within = section_group.end * 4 + 1, 0, 0
        for event in self._section.end():
            self._flow = self._begun(event)
            yield from self._event(event, 0)
            yield from self._cut_out(event.connection, over=isinstance(event, _ENDS))
        for (port, kind), count in sorted(self._left_out.items()):
            reasons = ", ".join(sorted(self._seen.unread)) if kind == "TLS" else ""
            what = f"{count} conversation{'s' * (count > 1)} on port {port}"
            reason = f"{what}: {kind}" + (f" ({reasons})" if reasons else "")
            yield self._error("left out", reason)
        for reason, _ in sorted(self._seen.broken.items()):
            yield self._error("TLS", f"read in part: {reason}")
        for connection in self._rows.conversations.open:
            # in the order in which they opened
            self._at = (self._reading.packets + 1) * 4 + 3
            self._flow, opened, _ = self._opened.get(connection, (0, 0, 0))
            self._within = opened << 24
            yield from self._rows.end_of(connection)
            yield from self._cut_out(connection, over=True)
        yield from self._learnt()

    def _begun(self, event: Event) -> int:
        """When the flow of an event began, by which what the end brings is in order."""
        number = event.connection
        return number - OWN if number >= OWN else number

    def _cut_out(self, connection: int, *, over: bool) -> Iterator[Outcome]:
        """The frames of which all is known."""
        if self._frames is not None:
            for one in self._frames.done(connection, over=over):
                yield self._outcome("frame", connection, one)

    def _event(self, event: Event, packet: int) -> Iterator[Outcome]:
        if isinstance(event, Opened):
            self._opened[event.connection] = self._place()
        return self._rows.event(event, packet)

    def _learnt(self) -> Iterator[Outcome]:
        """What all connections are to know."""
        if self._context is None:
            return
        if self._context.forgotten:
            yield self._error("forgotten", forgotten(self._context.forgotten))
        for topic, name in sorted(self._context.topics.items()):
            yield _name("topic", {"id": topic.hex, "name": name})
        for producer, name in sorted(self._context.producers.items()):
            yield _name("producer", {"id": producer, "name": name})
        brokers = self._context.brokers
        for address, node in sorted(brokers.nodes.items()):
            said = {"address": address, "node": node, "cluster": brokers.cluster}
            yield _name("broker", {**said, "several": brokers.several})

    def _error(self, kind: str, reason: str) -> Outcome:
        return self._outcome("error", 0, {"kind": kind, "reason": reason, "ts_ns": self._begun_ns})

    def _outcome(self, kind: str, of: int, said: dict[str, Any]) -> Outcome:
        if kind == "exchange":
            return Outcome(kind, self._section_group, of, self._place(), {}, said)
        place = self._opened.pop(of) if kind == "connection" else self._place()
        return Outcome(kind, self._section_group, of, place, said)

    def _place(self) -> Place:
        self._within += 1
        return Place(self._at, self._flow, self._within)


def _segment(
    packet: tuple[int, ...], ends: Sequence[Endpoint], source: bytes
) -> tuple[TcpSegment, tuple[str, ...]]:
    """Return the segment of a packet, and its comments. source: the bytes that have both."""
    _, _, at, size, seq, ack, said, flags, kind = packet
    comments = tuple(json.loads(source[at + size : at + size + said])) if said else ()
    one, other = ends if kind & FORWARD else ends[::-1]
    return TcpSegment(one, other, seq, ack, flags, source[at : at + size]), comments


def _name(kind: str, said: dict[str, Any]) -> Outcome:
    """What many flows say alike: nothing tells one from another."""
    return Outcome(kind, 0, 0, Place(0, 0, 0), said)
