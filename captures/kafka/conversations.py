"""Build the exchanges on all connections of a capture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from barnabas.captures.kafka import notes
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame
from barnabas.captures.kafka.pairing.conversation import Conversation
from barnabas.captures.tcp.events import Chunk, Closed, Event, FlowName, Opened
from barnabas.specs.frames import Direction


@dataclass(slots=True)
class Conversations:
    """All connections of a capture. Memory is bounded by the requests in flight."""

    undecoded: int = 0
    """Frames of unknown APIs, with unreadable headers, or without a request."""
    skipped: int = 0
    """Bytes that could not be cut into frames."""
    earlier: int = 0
    """Responses to requests in an unavailable segment of the capture."""
    losses: int = 0
    """How often bytes were missing or could not be cut into frames."""
    inferred: bool = False
    """Whether to yield responses whose requests were not captured, where their API and version can be
    inferred (`Exchange.inferred`)."""
    strays: bool = False
    """Whether to yield responses without a request, as exchanges with the key STRAY."""
    on_frame: Callable[[int, FlowName, Direction, CapturedFrame], None] | None = None
    """Called with each complete frame, its connection, flow and direction."""
    _open: dict[int, Conversation] = field(default_factory=dict)

    def exchanges(self, events: Iterable[Event]) -> Iterator[Exchange]:
        """Yield the exchanges, each when it ends."""
        now = 0
        for event in events:
            now = event.ts_ns
            for exchange in self.event(event):
                self._end(exchange, now)
                if exchange.key != STRAY or self.strays:
                    yield exchange
        for connection in self.open:
            for exchange in self.end_of(connection):
                self._end(exchange, now)
                yield exchange

    def _end(self, exchange: Exchange, now: int) -> None:
        """Set the end of an exchange, which is unknown if its response was not captured."""
        exchange.ended = 0 if exchange.note == notes.NOT_CAPTURED else now
        exchange.losses = self.losses

    @property
    def open(self) -> list[int]:
        """Return the numbers of the open connections."""
        return list(self._open)

    def under_way(self) -> list[Exchange]:
        """Return the exchanges that are still in progress. Any thread may call this."""
        return [
            exchange
            for conversation in list(self._open.values())
            for exchange in conversation.under_way()
        ]

    def end_of(self, connection: int) -> Iterator[Exchange]:
        """Yield the unfinished exchanges of a connection at the end of the capture."""
        yield from self._close(self._open[connection], notes.CAPTURE_ENDS, notes.CAPTURE_ENDS)

    def event(self, event: Event) -> Iterable[Exchange]:
        """Return the exchanges that an event ends, including strays. Their `losses` are not set yet."""
        conversation = self._open.get(event.connection)
        if isinstance(event, Opened):
            broker = event.comment.get("broker")
            client = event.comment.get("client", event.client)
            self._open[event.connection] = Conversation(event, client, broker, infers=self.inferred)
        elif conversation is None:
            self.losses += event.connection == 0  # a whole segment is missing
        elif isinstance(event, Chunk):
            ended = self._chunk(conversation, event)
            if event.direction == "request":
                return chain(ended, conversation.overdue(len(event.data)))
            if event.flow == "arrived" and event.data:
                conversation.responses_lost = False
            return ended
        elif isinstance(event, Closed):
            then = notes.how_closed(event.by or conversation.ended_by, reset=event.reset)
            return self._close(conversation, "connection closed", then)
        else:
            conversation.framings[event.flow, event.direction].lose(event.bytes)
            conversation.lossy = True
            if (event.flow, event.direction) == ("arrived", "response") and event.bytes:
                conversation.responses_lost = True
            self.losses += 1
        return ()

    def _chunk(self, conversation: Conversation, event: Chunk) -> Iterable[Exchange]:
        """Pair plain frames fast, and the rest of the chunk carefully."""
        if self.on_frame is not None or event.comments or event.flow == "left":
            return self._frames(conversation, event)
        paired, rest = conversation.pair_fast(event)
        if not rest:
            return paired
        return chain(paired, self._frames(conversation, event._replace(data=rest)))

    def _frames(self, conversation: Conversation, event: Chunk) -> Iterator[Exchange]:
        _, flow, direction, ts_ns, data, comments, packet = event
        if flow == "left" and not data:  # comments on delayed frames that never leave
            for comment in comments:
                yield from conversation.never_left(direction, comment)
            return
        if any("ended_by" in comment for comment in comments):
            conversation.ended_by = direction
        if flow == "arrived" and conversation.cut_off:
            return
        framing = conversation.framings[flow, direction]
        broken = framing.broken
        for frame in framing.feed(data, ts_ns, comments, packet):
            if self.on_frame is not None:
                self.on_frame(event.connection, flow, direction, frame)
            yield from conversation.frame(flow, direction, frame)
        if flow == "arrived":
            conversation.report_needed(direction, framing)
        if framing.broken != broken:
            conversation.lossy = True
            self.losses += 1

    def _close(self, conversation: Conversation, how: str, then: str) -> Iterator[Exchange]:
        self._open.pop(conversation.number, None)
        yield from conversation.close(how, then)
        self.undecoded += conversation.undecoded
        self.earlier += conversation.earlier
        self.skipped += conversation.framings.skipped - conversation.covered_bytes
