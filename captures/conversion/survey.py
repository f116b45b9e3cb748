"""Read a capture to find its frames, the exchange of each, and whether that is selected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from barnabas.captures.conversion.selection import Selection
from barnabas.captures.conversion.spans import DROPPED, MASKED, UNCHANGED, Spans
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.id_names import TOPIC, ids_without_names
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame
from barnabas.captures.kafka.notes import partial_of
from barnabas.captures.tcp.events import Event, FlowName, Opened
from barnabas.captures.writing.masking import UNSOLICITED, Masking
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import uuid_text


@dataclass(slots=True)
class Survey:
    """The frames of a capture and the verdicts on them, filled by `read`."""

    selection: Selection
    masking: Masking
    context: Context | None = None
    """Learns from every exchange; None: not needed, since nothing is left out."""
    arrived: dict[tuple[int, int, Direction], Spans] = field(default_factory=dict)
    """The arrived frames by connection, opening and direction. A connection that opens again, as in merged
    captures, counts its openings: 1, 2, ..."""
    replies: dict[int, int] = field(default_factory=dict)
    """The verdict on responses of the proxy itself, by number of their packet."""
    connections: set[int] = field(default_factory=set)
    """Connections with a selected exchange."""
    topics: dict[str, str] = field(default_factory=dict)
    """The names of topics of which the selected exchanges only have ids."""
    exchanges: int = 0
    """The number of selected exchanges."""
    of: int = 0
    """The number of all exchanges."""
    kinds: list[tuple[int, int]] = field(default_factory=list)
    """Key and version of frames to mask: their verdict is MASKED plus the index in this list."""
    _openings: Counter[int] = field(default_factory=Counter)
    _users: dict[tuple[int, int], str | None] = field(default_factory=dict)
    """The user of the last selected request, by connection and opening."""
    _kinds: dict[tuple[int, int], int] = field(default_factory=dict)

    def read(self, events: Iterable[Event]) -> Conversations:
        """Read a capture; return the counts of its losses."""
        conversations = Conversations(inferred=True, strays=True, on_frame=self._add_frame)
        for exchange in conversations.exchanges(self._opened(events)):
            if exchange.inferred and exchange.response_place < 0:
                # found in bytes before a frame: these are not converted, or only as they are
                conversations.skipped += 4 + (exchange.response_size or 0)
                continue
            if self.context is not None:
                self.context.learn(exchange)
            self._decide(exchange)
        return conversations

    def takes(self, connection: int) -> bool:
        """Return whether a connection is written."""
        if self.selection.whole:
            return self.selection.connection(connection)
        return connection in self.connections

    def _opened(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Opened):
                self._openings[event.connection] += 1
            yield event

    def _add_frame(
        self, connection: int, flow: FlowName, direction: Direction, frame: CapturedFrame
    ) -> None:
        if flow == "arrived" and self.selection.connection(connection):
            stream = (connection, self._openings[connection], direction)
            if stream not in self.arrived:
                self.arrived[stream] = Spans()
            self.arrived[stream].add(frame)

    def _decide(self, exchange: Exchange) -> None:
        selected = self.selection.exchange(exchange)
        if exchange.key != STRAY:
            self.of += 1
            self.exchanges += selected
        number = exchange.connection
        if selected:
            self.connections.add(number)
            self._name(exchange)
        elif not self.selection.connection(number):
            return
        opening = number, self._openings[number]
        if selected and (direction := partial_of(exchange.note)):
            self.arrived.setdefault((*opening, direction), Spans()).partial = exchange.key
        if exchange.request_place >= 0:
            self._decide_request(exchange, opening, selected=selected)
        verdict = self._verdict(exchange, "response") if selected else DROPPED
        if exchange.response_place >= 0:
            spans = self.arrived[*opening, "response"]
            spans.verdicts[exchange.response_place] = verdict
            if exchange.begun:
                spans.begun[exchange.response_place] = exchange.begun
        elif exchange.response_packet:
            self.replies[exchange.response_packet] = verdict

    def _decide_request(
        self, exchange: Exchange, opening: tuple[int, int], *, selected: bool
    ) -> None:
        index, spans = exchange.request_place, self.arrived[*opening, "request"]
        if not selected:
            spans.verdicts[index] = DROPPED
            return
        spans.verdicts[index] = self._verdict(exchange, "request")
        if exchange.user != self._users.get(opening):
            self._users[opening] = spans.users[index] = exchange.user
        if exchange.sasl:
            spans.sasl[index] = exchange.sasl

    def _name(self, exchange: Exchange) -> None:
        if self.context is not None:
            for topic in ids_without_names(exchange, TOPIC):
                name = self.context.topics.get(topic)
                if name is not None:
                    self.topics[uuid_text(topic)] = name

    def _verdict(self, exchange: Exchange, direction: Direction) -> int:
        if exchange.key == STRAY:
            key_version = UNSOLICITED, -1
        elif not self.masking.hides(direction, exchange.key):
            return UNCHANGED
        else:
            key_version = exchange.key, exchange.version
        if key_version not in self._kinds:
            self._kinds[key_version] = len(self.kinds)
            self.kinds.append(key_version)
        return MASKED + self._kinds[key_version]
