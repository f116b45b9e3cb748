"""All connections of a capture, and the exchanges on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from captures.conversation import Conversation
from captures.events import Closed, Event, FlowName, Lost, Opened
from captures.exchange import STRAY, Exchange
from captures.framing import CapturedFrame
from specs.frames import Direction


@dataclass(slots=True)
class Conversations:
    """All connections of a capture. Memory is bounded by what is under way."""

    undecoded: int = 0
    """Frames of unknown APIs, with unreadable headers, or that nobody asked for."""
    skipped: int = 0
    """Bytes that could not be taken apart into frames."""
    earlier: int = 0
    """Responses to requests that are in a segment which is not here."""
    losses: int = 0
    """How often something was missing, or could not be taken apart any further."""
    strays: bool = False
    """Whether responses that answer no request are given too, as exchanges with the key STRAY."""
    seen: Callable[[int, FlowName, Direction, CapturedFrame], None] | None = None
    """Told of each frame when it is complete: its connection, flow and direction."""
    _open: dict[int, Conversation] = field(default_factory=dict)

    def exchanges(self, events: Iterable[Event]) -> Iterator[Exchange]:
        """The exchanges, each when it is over."""
        for exchange in self._exchanges(events):
            exchange.losses = self.losses
            if exchange.key != STRAY or self.strays:
                yield exchange

    def _exchanges(self, events: Iterable[Event]) -> Iterator[Exchange]:
        for event in events:
            yield from self.event(event)
        yield from self.end()

    def end(self) -> Iterator[Exchange]:
        """The capture is over: the exchanges that are not."""
        for connection in self.open:
            yield from self.end_of(connection)

    @property
    def open(self) -> list[int]:
        """The connections that are."""
        return list(self._open)

    def end_of(self, connection: int) -> Iterator[Exchange]:
        """The capture is over: the exchanges of a connection that are not."""
        yield from self._close(self._open[connection], "the capture ends")

    def event(self, event: Event) -> Iterator[Exchange]:
        """The exchanges, strays too, that are over with an event; `losses` says nothing yet."""
        if isinstance(event, Opened):
            broker = event.comment.get("broker")
            client = event.comment.get("client", event.client)
            self._open[event.connection] = Conversation(event, client, broker)
            return
        conversation = self._open.get(event.connection)
        if conversation is None:
            self.losses += event.connection == 0  # a whole segment is missing
            return
        if isinstance(event, Closed):
            yield from self._close(conversation, "connection closed")
        elif isinstance(event, Lost):
            conversation.framing(event.flow, event.direction).lose(event.bytes)
            conversation.lossy = True
            self.losses += 1
        else:
            framing = conversation.framing(event.flow, event.direction)
            broken = framing.broken
            for frame in framing.feed(event.data, event.ts_ns, event.comments, event.packet):
                if self.seen is not None:
                    self.seen(event.connection, event.flow, event.direction, frame)
                yield from conversation.frame(event.flow, event.direction, frame)
            if event.flow == "arrived":
                demands = conversation.demands
                demand = demands.request if event.direction == "request" else demands.response
                demand.bytes = framing.missing
            if framing.broken != broken:
                conversation.lossy = True
                self.losses += 1

    def _close(self, conversation: Conversation, how: str) -> Iterator[Exchange]:
        self._open.pop(conversation.number, None)
        yield from conversation.close(how)
        self.undecoded += conversation.undecoded
        self.earlier += conversation.earlier
        self.skipped += sum(framing.skipped for framing in conversation.framings.values())
