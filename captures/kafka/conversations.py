"""All connections of a capture, and the exchanges on them."""

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
    """All connections of a capture. Memory is bounded by what is under way."""

    undecoded: int = 0
    """Frames of unknown APIs, with unreadable headers, or that nobody asked for."""
    skipped: int = 0
    """Bytes that could not be taken apart into frames."""
    earlier: int = 0
    """Responses to requests that are in a segment of the capture which is not here."""
    losses: int = 0
    """How often something was missing, or could not be taken apart any further."""
    inferred: bool = False
    """Whether responses whose requests were not captured are given too, where it can be told what they
    are (`Exchange.inferred`)."""
    strays: bool = False
    """Whether responses that answer no request are given too, as exchanges with the key STRAY."""
    seen: Callable[[int, FlowName, Direction, CapturedFrame], None] | None = None
    """Told of each frame when it is complete: its connection, flow and direction."""
    _open: dict[int, Conversation] = field(default_factory=dict)

    def exchanges(self, events: Iterable[Event]) -> Iterator[Exchange]:
        """The exchanges, each when it is over."""
        now = 0
        for event in events:
            now = event.ts_ns
            for exchange in self.event(event):
                exchange.ended, exchange.losses = now, self.losses
                if exchange.key != STRAY or self.strays:
                    yield exchange
        for connection in self.open:
            for exchange in self.end_of(connection):
                exchange.ended, exchange.losses = now, self.losses
                yield exchange

    @property
    def open(self) -> list[int]:
        """The connections that are."""
        return list(self._open)

    def under_way(self) -> list[Exchange]:
        """The exchanges that are not over, as they stand. Any thread may ask."""
        return [each for one in list(self._open.values()) for each in one.under_way()]

    def end_of(self, connection: int) -> Iterator[Exchange]:
        """The capture is over: the exchanges of a connection that are not."""
        yield from self._close(self._open[connection], "the capture ends", "the capture ends")

    def event(self, event: Event) -> Iterable[Exchange]:
        """The exchanges, strays too, that are over with an event; `losses` says nothing yet."""
        conversation = self._open.get(event.connection)
        if isinstance(event, Opened):
            broker = event.comment.get("broker")
            client = event.comment.get("client", event.client)
            self._open[event.connection] = Conversation(event, client, broker, infers=self.inferred)
        elif conversation is None:
            self.losses += event.connection == 0  # a whole segment is missing
        elif isinstance(event, Chunk):
            found = self._chunk(conversation, event)
            if event.direction == "request":
                return chain(found, conversation.overdue(len(event.data)))
            return found
        elif isinstance(event, Closed):
            then = notes.how_closed(event.by or conversation.ended_by, reset=event.reset)
            return self._close(conversation, "connection closed", then)
        else:
            conversation.framings[event.flow, event.direction].lose(event.bytes)
            conversation.lossy = True
            self.losses += 1
        return ()

    def _chunk(self, conversation: Conversation, event: Chunk) -> Iterable[Exchange]:
        """Plain frames pass at once, the rest of a chunk with care."""
        if self.seen is not None or event.comments or event.flow == "left":
            return self._frames(conversation, event)
        found, rest = conversation.pair_fast(event)
        if not rest:
            return found
        return chain(found, self._frames(conversation, event._replace(data=rest)))

    def _frames(self, conversation: Conversation, event: Chunk) -> Iterator[Exchange]:
        _, flow, direction, ts_ns, data, comments, packet = event
        if flow == "left" and not data:  # of frames that were to leave later, and never do
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
            if self.seen is not None:
                self.seen(event.connection, flow, direction, frame)
            yield from conversation.frame(flow, direction, frame)
        if flow == "arrived":
            conversation.say_needed(direction, framing)
        if framing.broken != broken:
            conversation.lossy = True
            self.losses += 1

    def _close(self, conversation: Conversation, how: str, then: str) -> Iterator[Exchange]:
        self._open.pop(conversation.number, None)
        yield from conversation.close(how, then)
        self.undecoded += conversation.undecoded
        self.earlier += conversation.earlier
        self.skipped += conversation.framings.skipped - conversation.told_bytes
