"""The first reading of a capture: its frames, the exchange of each, and whether that is wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from barnabas.captures.conversion.selection import Selection
from barnabas.captures.conversion.spans import DROPPED, KEPT, MASKED, Spans
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
    """Fill it with `read`."""

    selection: Selection
    masking: Masking
    context: Context | None = None
    """Learns of every exchange; None: where nothing is left out, nothing need be known."""
    arrived: dict[tuple[int, int, Direction], Spans] = field(default_factory=dict)
    """What arrived, by connection. One that is opened again, as in captures that others have merged,
    counts anew: 1, 2, ..."""
    replies: dict[int, int] = field(default_factory=dict)
    """The verdict on what the proxy answered itself, by number of its packet."""
    wanted: set[int] = field(default_factory=set)
    """Connections with something that is wanted."""
    topics: dict[str, str] = field(default_factory=dict)
    """The names of topics of which the exchanges that are wanted have ids alone."""
    exchanges: int = 0
    """How many of them are wanted."""
    of: int = 0
    """How many exchanges there are."""
    kinds: list[tuple[int, int]] = field(default_factory=list)
    """Key and version of frames in which something is to be hidden: the verdict on them is MASKED and
    the place in this list."""
    _openings: Counter[int] = field(default_factory=Counter)
    _users: dict[tuple[int, int], str | None] = field(default_factory=dict)
    """The user of the last request that is wanted, by connection and its opening."""
    _kinds: dict[tuple[int, int], int] = field(default_factory=dict)

    def read(self, events: Iterable[Event]) -> Conversations:
        """Read a capture; returns what counted its losses."""
        conversations = Conversations(strays=True, seen=self._seen)
        for exchange in conversations.exchanges(self._opened(events)):
            if self.context is not None:
                self.context.learn(exchange)
            self._judge(exchange)
        return conversations

    def takes(self, connection: int) -> bool:
        """Whether a connection is to be written."""
        if self.selection.whole:
            return self.selection.connection(connection)
        return connection in self.wanted

    def _opened(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Opened):
                self._openings[event.connection] += 1
            yield event

    def _seen(
        self, connection: int, flow: FlowName, direction: Direction, frame: CapturedFrame
    ) -> None:
        if flow == "arrived" and self.selection.connection(connection):
            place = (connection, self._openings[connection], direction)
            if place not in self.arrived:
                self.arrived[place] = Spans()
            self.arrived[place].add(frame)

    def _judge(self, exchange: Exchange) -> None:
        wanted = self.selection.exchange(exchange)
        if exchange.key != STRAY:
            self.of += 1
            self.exchanges += wanted
        number = exchange.connection
        if wanted:
            self.wanted.add(number)
            self._name(exchange)
        elif not self.selection.connection(number):
            return
        opening = number, self._openings[number]
        if wanted and (way := partial_of(exchange.note)):
            self.arrived.setdefault((*opening, way), Spans()).partial = exchange.key
        if exchange.request_place >= 0:
            self._judge_request(exchange, opening, wanted=wanted)
        verdict = self._verdict(exchange, "response") if wanted else DROPPED
        if exchange.response_place >= 0:
            spans = self.arrived[*opening, "response"]
            spans.verdicts[exchange.response_place] = verdict
            if exchange.begun:
                spans.begun[exchange.response_place] = exchange.begun
        elif exchange.response_packet:
            self.replies[exchange.response_packet] = verdict

    def _judge_request(self, exchange: Exchange, opening: tuple[int, int], *, wanted: bool) -> None:
        place, spans = exchange.request_place, self.arrived[*opening, "request"]
        if not wanted:
            spans.verdicts[place] = DROPPED
            return
        spans.verdicts[place] = self._verdict(exchange, "request")
        if exchange.user != self._users.get(opening):
            self._users[opening] = spans.users[place] = exchange.user
        if exchange.sasl:
            spans.sasl[place] = exchange.sasl

    def _name(self, exchange: Exchange) -> None:
        if self.context is not None:
            for topic in ids_without_names(exchange, TOPIC):
                name = self.context.topics.get(topic)
                if name is not None:
                    self.topics[uuid_text(topic)] = name

    def _verdict(self, exchange: Exchange, direction: Direction) -> int:
        """What is to become of a frame that is wanted."""
        if exchange.key == STRAY:
            kind = UNSOLICITED, -1
        elif not self.masking.hides(direction, exchange.key):
            return KEPT
        else:
            kind = exchange.key, exchange.version
        if kind not in self._kinds:
            self._kinds[kind] = len(self.kinds)
            self.kinds.append(kind)
        return MASKED + self._kinds[kind]
