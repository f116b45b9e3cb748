"""One flow after the other: the pure core's own reassembly, TLS, recognition and pairing, and what they find.

A flow is a conversation between two ends, or all that belong to a connection of ours. Memory is bounded
by what is under way in one flow, however long it is.
"""

from __future__ import annotations

import json
import mmap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.framing.protocol_detection import Kind
from barnabas.captures.section import Join
from barnabas.captures.tcp.events import Chunk, Closed, Event, Linked, Lost, Opened
from barnabas.captures.tcp.fast_headers import Usual
from barnabas.captures.tcp.headers import Segment
from barnabas.captures.tls.decryption import Decryption, Seen
from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.bulk_reassembly import Streaks
from barnabas.pipeline.reading.endpoints import endpoints
from barnabas.pipeline.reading.outcomes import Place
from barnabas.pipeline.reading.plan import Epoch
from barnabas.pipeline.reading.runs import Row, Run, runs
from barnabas.pipeline.reading.segments import CAREFUL, FORWARD, INLINE
from barnabas.pipeline.reading.shortfalls import forgotten, left, missing
from barnabas.pipeline.rows.exchanges import NO_RESPONSE, row, software_of
from barnabas.pipeline.rows.frames import Frames

OWN: Final = 1 << 40
"""Flows that no comment numbers are called by the number of their first packet, from here on."""


class Outcome(NamedTuple):
    """A row of outcomes.py: an exchange's columns, or what is said."""

    kind: str
    epoch: int
    of: int
    place: Place
    said: dict[str, Any] | None
    columns: dict[str, Any] | None


class Reading(NamedTuple):
    """What is the same for all flows. To be pickled."""

    columns: tuple[str, ...]
    """Of an exchange's row: what is not asked for is not made."""
    epochs: Sequence[Epoch]
    packets: int
    secrets: tuple[bytes, ...] = ()
    """Key logs."""
    frames: bool = False
    """Whether there is an outcome of each frame, too: then none is passed over quickly."""

    @property
    def context(self) -> bool:
        """Whether a column needs to know what was said before."""
        return not _CONTEXT.isdisjoint(self.columns)


_CONTEXT: Final = frozenset(("broker", "topics", "partitions", "transactional_id", "request_body"))
"""Columns that names learnt elsewhere complete."""


_ENDS: Final = (Opened, Closed)
"""What ends the connection that had the number before."""
KEPT: Final = 64 << 20
"""Bytes of a file that stay mapped into a worker's memory behind where it reads."""


class Files:
    """The bytes of files, mapped into memory when they are first asked for."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}
        self._let_go: dict[str, int] = {}
        """Up to where pages were let go."""

    def passed(self, path: str, place: int) -> None:
        """A flow was read up to a place. Pages that were looked at would stay: all of the file, in the end.

        They are still in the system's cache, from where the next flow has them again.
        """
        if not 0 <= place - self._let_go.get(path, 0) < KEPT:
            self._let_go[path] = place
            if hasattr(mmap, "MADV_DONTNEED"):
                self._maps[path].madvise(mmap.MADV_DONTNEED)

    def __getitem__(self, path: str) -> mmap.mmap:
        if path not in self._maps:
            with Path(path).open("rb") as file:
                self._maps[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._maps[path]


def outcomes(
    rows: Iterable[Row], reading: Reading, keys: KeyLog, files: Files
) -> Iterator[Outcome]:
    """What the rows of one flow come to. Raises OSError."""
    coming = iter(rows)
    first = next(coming)
    flow = _Flow(first.epoch, reading, keys)

    def all_rows() -> Iterator[Row]:
        yield first
        yield from coming

    for run in runs(all_rows()):
        yield from flow.run(run, files)
    yield from flow.end()


class _Flow:
    """The reading of one flow."""

    def __init__(self, epoch: int, reading: Reading, keys: KeyLog) -> None:
        self._epoch = epoch
        self._reading = reading
        self._ours = reading.epochs[epoch].ours
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
        self._join = Join(self._ours, 0, self._left_out, decryption, self._linked, numbers)
        self._frames = Frames() if reading.frames else None
        seen = self._frames.seen if self._frames else None
        self._conversations = Conversations(strays=True, seen=seen)
        self._context = Context()
        self._connections: dict[int, dict[str, Any]] = {}
        """What is said of those that are open."""
        self._software: dict[int, str] = {}
        self._begun_ns = 0

    def _numbers(self) -> Iterator[int]:
        while True:
            self._created.append(self._number)
            yield OWN + self._number

    def run(self, run: Run, files: Files) -> Iterator[Outcome]:
        """What some packets bring."""
        row, segments = run
        inline: Any = row.data
        plain: Any = files[row.path] if row.path is not None else inline
        view = memoryview(plain)
        ends = endpoints(row.ends)
        names = (b"<" + row.ends, b">" + row.ends)
        packets = Streaks(segments)
        if not self._begun_ns:
            self._begun_ns = int(segments["ts_ns"][0])
        index = 0
        while index < len(packets):
            index = self._absorb(packets, index, view, names)
            if index == len(packets):
                break
            number, ts_ns, at, size, seq, ack, said, flags, kind = packets[index]
            forward = bool(kind & FORWARD)
            index += 1
            self._number = number
            events: Iterable[Event] | None = None
            found = None
            if not kind & CAREFUL:
                found = Usual(names[forward], seq, ack, flags, at, at + size)
                events = self._join.plain(found, view, ts_ns, number)
            if events is None:
                source = inline if kind & INLINE else plain
                comments = tuple(json.loads(source[at + size : at + size + said])) if said else ()
                one, other = ends if forward else ends[::-1]
                segment = Segment(one, other, seq, ack, flags, source[at : at + size])
                events = self._join.segment(segment, ts_ns, comments, number, found)
            elif not events:
                continue
            self._at, self._flow, self._within = number * 4, 0, 0
            for event in events:
                yield from self._event(event, number)
                if self._frames is not None:
                    yield from self._cut_out(event.connection, over=isinstance(event, _ENDS))
            if self._created:
                yield from self._flows()
        if row.path is not None:
            files.passed(row.path, int(segments["at"][-1]))

    def _absorb(
        self, packets: Streaks, index: int, data: memoryview, names: tuple[bytes, bytes]
    ) -> int:
        """Pass over packets in the middle of frames."""
        for forward in (True, False):
            whose = self._join.flows.whose(names[forward])
            if whose is not None:
                flow, half, _ = whose
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
        """There are no more packets of it: its epoch is over, and then all files are."""
        epoch = self._reading.epochs[self._epoch]
        self._at, self._flow, self._within = epoch.end * 4 + 1, 0, 0
        for event in self._join.end():
            self._flow = self._opened(event)
            yield from self._event(event, 0)
            yield from self._cut_out(event.connection, over=isinstance(event, _ENDS))
        for (port, kind), count in sorted(self._left_out.items()):
            reasons = ", ".join(sorted(self._seen.unread)) if kind == "TLS" else ""
            what = f"{count} conversation{'s' * (count > 1)} on port {port}"
            reason = f"{what}: {kind}" + (f" ({reasons})" if reasons else "")
            yield self._error(None, "left out", reason, ts_ns=self._begun_ns)
        for reason, _ in sorted(self._seen.broken.items()):
            yield self._error(None, "TLS", f"read in part: {reason}", ts_ns=self._begun_ns)
        for connection in self._conversations.open:
            said = self._connections.get(connection, {})
            # in the order in which they opened
            self._at = (self._reading.packets + 1) * 4 + 3
            self._flow, opened, _ = said.get("place", (0, 0, 0))
            self._within = opened << 24
            yield from self._closing(connection, self._conversations.end_of(connection), None)
            yield from self._cut_out(connection, over=True)
            yield from self._connection(connection)
        yield from self._learnt()

    def _opened(self, event: Event) -> int:
        """When the flow of an event began, by which what the end brings is in order."""
        number = event.connection
        return number - OWN if number >= OWN else number

    def _cut_out(self, connection: int, *, over: bool) -> Iterator[Outcome]:
        """The frames of which all is known."""
        if self._frames is not None:
            for one in self._frames.done(connection, over=over):
                yield self._outcome("frame", connection, one)

    def _event(self, event: Event, packet: int) -> Iterator[Outcome]:
        number = event.connection
        if isinstance(event, Opened):
            comment = event.comment
            broker = comment.get("broker")
            self._connections[number] = {
                "client_address": comment.get("client", event.client),
                "server_address": event.server,
                "opened_ns": event.ts_ns,
                "whole": event.whole,
                "broker": broker if isinstance(broker, int) else None,
                "comment": comment,
                "place": self._place(),
            }
            self._software.pop(number, None)
        before = self._conversations.losses
        if isinstance(event, Closed):
            yield from self._closing(number, self._conversations.event(event), event.ts_ns)
            if number in self._connections:
                self._connections[number] |= {"closed_ns": event.ts_ns, "reset": event.reset}
                yield from self._connection(number)
            return
        for exchange in self._conversations.event(event):
            yield from self._exchange(exchange, event.ts_ns)
        if self._conversations.losses > before:
            yield self._outcome("loss", number, {})
            if isinstance(event, Lost):
                yield self._error(
                    number, "gap", missing(event.bytes), bytes=event.bytes or None,
                    direction=event.direction, ts_ns=event.ts_ns, packet=packet or None,
                )  # fmt: skip
            else:
                assert isinstance(event, Chunk)  # noqa: S101
                yield self._error(
                    number, "unframed", "bytes that begin no frame",
                    direction=event.direction, ts_ns=event.ts_ns, packet=event.packet or None,
                )  # fmt: skip

    def _closing(
        self, number: int, exchanges: Iterable[Exchange], ts_ns: int | None
    ) -> Iterator[Outcome]:
        """The end of a connection: what was left, and what could not be read."""
        undecoded, skipped = self._conversations.undecoded, self._conversations.skipped
        for exchange in exchanges:
            yield from self._exchange(exchange, ts_ns)
        for kind, reason, size in left(self._conversations, undecoded, skipped):
            yield self._error(number, kind, reason, bytes=size, ts_ns=ts_ns)

    def _exchange(self, exchange: Exchange, ts_ns: int | None) -> Iterator[Outcome]:
        number = exchange.connection
        if self._frames is not None:
            self._frames.exchange(exchange)
        if exchange.key == STRAY:
            reason = (
                f"a response to correlation id {exchange.correlation_id}, which nobody asked for"
            )
            yield self._error(
                number, "unmatched", reason, bytes=exchange.response_size,
                direction="response", ts_ns=exchange.ts, packet=exchange.response_packet,
            )  # fmt: skip
            return
        wanted = self._reading.columns
        context = None
        if self._reading.context:
            context = self._context
            context.learn(exchange)
        if "software" in wanted and number not in self._software:
            software = software_of(exchange)
            if software is not None:
                self._software[number] = software
        over = ts_ns if exchange.latency_ms is None and exchange.note != NO_RESPONSE else None
        columns = row(
            exchange,
            context,
            software=self._software.get(number),
            end_ns=over,
            columns=wanted,
        )
        yield Outcome("exchange", self._epoch, number, self._place(), None, columns)
        if columns.get("undecodable"):
            yield self._error(
                number, "undecoded", columns["undecodable"],
                ts_ns=exchange.ts, packet=exchange.request_packet,
            )  # fmt: skip

    def _connection(self, number: int) -> Iterator[Outcome]:
        said = self._connections.pop(number, None)
        self._software.pop(number, None)
        if said is not None:
            place = Place(*said.pop("place"))
            yield Outcome("connection", self._epoch, number, place, said, None)

    def _learnt(self) -> Iterator[Outcome]:
        """What all connections are to know."""
        if not self._reading.context:
            return
        if self._context.forgotten:
            yield self._error(
                None, "forgotten", forgotten(self._context.forgotten), ts_ns=self._begun_ns
            )
        for topic, name in sorted(self._context.topics.items()):
            yield _name("topic", {"id": topic.hex, "name": name})
        for producer, name in sorted(self._context.producers.items()):
            yield _name("producer", {"id": producer, "name": name})
        brokers = self._context.brokers
        for address, node in sorted(brokers.nodes.items()):
            said = {"address": address, "node": node, "cluster": brokers.cluster}
            yield _name("broker", {**said, "several": brokers.several})

    def _error(self, connection: int | None, kind: str, reason: str, **said: Any) -> Outcome:
        return self._outcome("error", connection or 0, {"kind": kind, "reason": reason, **said})

    def _outcome(self, kind: str, of: int, said: dict[str, Any]) -> Outcome:
        return Outcome(kind, self._epoch, of, self._place(), said, None)

    def _place(self) -> Place:
        self._within += 1
        return Place(self._at, self._flow, self._within)


def _name(kind: str, said: dict[str, Any]) -> Outcome:
    """What many flows say alike: nothing tells one from another."""
    return Outcome(kind, 0, 0, Place(0, 0, 0), said, None)
