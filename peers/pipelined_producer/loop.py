"""The send thread's event loop, without sockets and without a clock.

`Loop.turn` goes once through the steps of the document's loop, which `STEPS` lists in its words and
order. The document selects twice in a round; here the shell does so once, before the turn, and what it
finds comes in as `Ready`. What the document gives no place: what is too old is given up first of all,
and answers that are late end their connection where new connections are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from peers.dialogue import Answer, Nonsense
from peers.leaders import STALE, Address, Place
from peers.pipelined_producer.actions import METADATA, Action, Close, Connect, Ready, Report, Write
from peers.pipelined_producer.batch import PLAIN, Serializers, collate
from peers.pipelined_producer.event import UNDESIGNATED, Event, Outcome
from peers.pipelined_producer.intake import Intake
from peers.pipelined_producer.link import Link, Sent, State, produce_version
from peers.pipelined_producer.links import Links
from peers.pipelined_producer.queues import Batches
from peers.pipelined_producer.refresher import RETRIABLE, Refresher
from peers.pipelined_producer.retries import Retries
from peers.pipelined_producer.settings import Settings
from specs.error_codes import ERROR_CODES
from specs.keys import API_VERSIONS, PRODUCE

LOST: Final = "the connection was lost"
LATE: Final = "the broker did not answer in time"
EXPIRED: Final = "expired"
CLOSED: Final = "the producer was closed"

_NAMES: Final = {one.code: one.name for one in ERROR_CODES}
_NOW: Final = 1e-6  # seconds that times may be off by, as sums of floats are


class Loop:
    """All that the send thread knows. bootstrap: whom to ask for metadata first. Times in seconds."""

    def __init__(
        self,
        bootstrap: Iterable[Address],
        settings: Settings,
        intake: Intake,
        serializers: Serializers = PLAIN,
    ) -> None:
        self.settings = settings
        self.intake = intake
        self.refresher = Refresher(bootstrap, settings)
        self.links = Links(settings, self.refresher)
        self.retries = Retries()
        self.hurry = False
        """Whether batches that are not full go at once."""
        self._serializers = serializers
        self._actions: list[Action] = []
        self._ready = Ready()
        self._now = 0.0

    def turn(self, ready: Ready, now: float) -> list[Action]:
        """Go through all steps once; gives what to do, in order."""
        self._ready, self._now = ready, now
        self._expire()
        for _, step in STEPS:
            step(self)
        actions, self._actions = self._actions, []
        return actions

    def wrote(self, node: int, count: int) -> None:
        """The socket has taken so many bytes of the last Write."""
        link = self.links.get(node)
        if link is None:
            return
        link.outgoing = link.outgoing[count:]
        if not link.outgoing and link.writing is not None:  # acks=0: nobody will say more
            sent = link.writing
            link.arrive(sent)
            for events in sent.batches.values():
                for event in events:
                    self._report(Outcome(event))

    def give_up(self) -> list[Action]:
        """End: close all connections, and say of everything that is left that it was not sent."""
        for link in list(self.links.all()):
            if link.state != State.DOWN:
                self._actions.append(Close(link.node))
            for sent in link.down(self.settings.client_id, math.inf):
                for event in (event for events in sent.batches.values() for event in events):
                    self._report(Outcome(event, problem=CLOSED))
        for event in (*self.retries.remove(_any), *self.intake.remove(_any)):
            self._report(Outcome(event, problem=CLOSED))
        actions, self._actions = self._actions, []
        return actions

    def configure_connections(self) -> None:
        """Connections are made to brokers for which there is something; what is late is given up."""
        for node in self._ready.connected:
            self._connected(node)
        for link in self.late():
            self._lose(link, LATE)
        for node in self.unconnected():
            self._connect(self.links.to(node))

    def handle_responses(self) -> None:
        """All answers that are whole; then the connections that ended."""
        for node, data in self._ready.arrived.items():
            link = self.links.get(node)
            if link is not None:
                link.dialogue.feed(data)
        for link in list(self.links.all()):
            problem = LOST if link.node in self._ready.lost else ""
            if self.standing_still and link.node != METADATA and not problem:
                continue  # nobody reads while metadata are waited for
            try:
                for answer in link.dialogue.answers():
                    self._answered(link, answer)
            except Nonsense as nonsense:
                problem = str(nonsense)
            if problem and link.state != State.DOWN:
                self._lose(link, problem)

    def handle_metadata(self) -> None:
        """Ask who leads, if something waits for that or an answer said that it changed."""
        refresher = self.refresher
        link = refresher.link
        places = self.places()
        refresher.topics |= {topic for topic, _ in places}
        if refresher.busy or link.not_before > self._now:
            return
        if not refresher.needed(places, self._now) or not refresher.topics:
            return
        if link.state == State.DOWN:
            link.address = refresher.next_address()
            link.state, link.until = State.CONNECTING, self._later(self.settings.answer_timeout_ms)
            self._actions.append(Connect(METADATA, link.address))
        elif METADATA in self._ready.writable and not link.outgoing:
            self._write(link, refresher.ask(self._now))

    def handle_incomplete(self) -> None:
        """Go on with requests of which the socket did not take everything."""
        for link in self._writable():
            if link.outgoing and not any(
                isinstance(action, Write) and action.node == link.node for action in self._actions
            ):
                self._actions.append(Write(link.node, link.outgoing))

    def handle_retries(self) -> None:
        """What is due is sent again before anything new, to whoever leads now."""
        for link in self._writable():
            if self.links.has_room(link) and len(self.retries):
                places = self.links.served(link)
                self._send(link, self.retries.take(places, self._now))

    def handle_new(self) -> None:
        """Poll the queues of the partitions that a broker leads; one request each, if it may be."""
        for link in self._writable():
            if self.links.has_room(link):
                places = self.links.served(link, but=self.retries.held())
                limit = self.settings.batch_messages
                self._send(link, self.intake.take(places, limit, self.ripe))

    def late(self) -> list[Link]:
        """The connections that are given up; while metadata are waited for, nobody reads the others."""
        return [
            link
            for link in self.links.all()
            if (link.node == METADATA or not self.standing_still)
            and link.state != State.DOWN
            and min(link.until, *(sent.until for sent in link.in_flight[:1]), math.inf) <= self._now
        ]

    def unconnected(self) -> list[int]:
        """The brokers for which there is something, and to which a connection may be made now."""
        wanted = set() if self.standing_still else self.places()
        keyless = {topic for topic, partition in wanted if partition == UNDESIGNATED}
        return [
            node
            for node, places in self.refresher.led.items()
            if self.links.to(node).state == State.DOWN
            and self.links.to(node).not_before <= self._now
            and any(place in wanted or place[0] in keyless for place in places)
        ]

    def places(self) -> set[Place]:
        """The partitions for which there is something, and -1 of topics for what has none yet."""
        return set(self.intake.waiting()) | self.retries.held()

    @property
    def now(self) -> float:
        """The last turn's time."""
        return self._now

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do at once."""
        return not self._actions

    @property
    def standing_still(self) -> bool:
        """Whether metadata are waited for, and everything with them."""
        return self.settings.metadata == "blocking" and self.refresher.busy

    @property
    def ripe(self) -> float:
        """Batches whose first event came until then are not waited for any longer."""
        return math.inf if self.hurry else self._now - self.settings.linger_ms / 1e3 + _NOW

    def _later(self, ms: float) -> float:
        return self._now + ms / 1e3

    def _writable(self) -> Iterator[Link]:
        """Those that take bytes; while metadata are waited for, only that connection."""
        for link in list(self.links.all()):
            takes = link.up and link.node in self._ready.writable
            if takes and (link.node == METADATA or not self.standing_still):
                yield link

    def _connect(self, link: Link) -> None:
        link.address = self.refresher.view.brokers[link.node]
        link.state, link.until = State.CONNECTING, self._later(self.settings.answer_timeout_ms)
        self._actions.append(Connect(link.node, link.address))

    def _connected(self, node: int) -> None:
        link = self.links.get(node)
        if link is None or link.state != State.CONNECTING:
            return
        link.state, link.until = State.READY, math.inf
        fixed = self.settings.produce_version
        if node != METADATA and fixed is None and not link.old:
            link.state, link.until = State.ASKING, self._later(self.settings.versions_timeout_ms)
            self._write(link, link.dialogue.ask(API_VERSIONS, 0, {}))
        else:
            link.version = fixed or 0

    def _write(self, link: Link, data: bytes) -> None:
        link.outgoing = memoryview(data)
        self._actions.append(Write(link.node, link.outgoing))

    def _send(self, link: Link, batches: Batches) -> None:
        if not batches:
            return
        body, sent, failed = collate(batches, link.version, self.settings, self._serializers)
        for outcome in failed:
            self._report(outcome)
        if not sent:
            return
        answered = self.settings.acks != 0
        request = Sent(sent, self._later(self.settings.answer_timeout_ms))
        data = link.dialogue.ask(PRODUCE, link.version, body, answered=answered, note=request)
        link.depart(request, answered=answered)
        self._write(link, data)
        self.links.served_now(link)

    def _answered(self, link: Link, answer: Answer) -> None:
        """Raises Nonsense."""
        link.heard = True
        if answer.question.key == PRODUCE:
            self._produced(link, answer.question.note, answer.body)
            return
        link.until = math.inf
        if answer.question.key == API_VERSIONS:
            link.version = produce_version(answer.body)
            link.state = State.READY
        else:
            self._adopt(answer.body)

    def _adopt(self, body: dict[str, Any]) -> None:
        refused = self.refresher.adopt(body, self._now)
        for outcome in self.intake.known(self.refresher.view.partitions):
            self._report(outcome)
        for topic, error in refused.items():
            of_it = _of_topic(topic)
            for event in (*self.retries.remove(of_it), *self.intake.remove(of_it)):
                self._report(Outcome(event, problem=_name(error), error=error))
        brokers = self.refresher.view.brokers
        for link in list(self.links.brokers.values()):
            if brokers.get(link.node) != link.address and link.state != State.DOWN:
                self._lose(link)
        self.refresher.stale = False  # what was just closed is known

    def _produced(self, link: Link, sent: Sent, body: dict[str, Any]) -> None:
        said = {
            (topic["name"], part["index"]): (part["error_code"], part["base_offset"])
            for topic in body["responses"]
            for part in topic["partition_responses"]
        }
        if said.keys() != sent.batches.keys():
            raise Nonsense("the broker answers for other partitions than were sent")
        link.arrive(sent)
        for place, events in sent.batches.items():
            error, offset = said[place]
            if error:
                self._failed(place, events, error, _name(error))
                continue
            for number, event in enumerate(events):
                self._report(Outcome(event, offset + number if offset >= 0 else -1))

    def _failed(self, place: Place, events: list[Event], error: int, problem: str) -> None:
        """A batch was refused, or nobody knows: again, if it may help and was not too often."""
        self.refresher.stale |= error in STALE
        again: list[Event] = []
        for event in events:
            event.attempts += 1
            if event.attempts <= self.settings.retries and (not error or error in RETRIABLE):
                again.append(event)
            else:
                self._report(Outcome(event, problem=problem, error=error))
        if again:
            self.retries.add(place, again, self._later(self.settings.retry_backoff_ms))

    def _lose(self, link: Link, problem: str = LOST) -> None:
        """A connection has ended, or can't be used any more; what was in flight may be written or not."""
        self._actions = [
            one for one in self._actions if not (isinstance(one, Write) and one.node == link.node)
        ]
        self._actions.append(Close(link.node))
        lost = link.down(self.settings.client_id, self._later(self.settings.reconnect_backoff_ms))
        link.until = math.inf
        self.refresher.stale = True
        for sent in lost:
            for place, events in sent.batches.items():
                self._failed(place, events, 0, problem)

    def _expire(self) -> None:
        expiry = self.settings.expiry_ms / 1e3
        now = self._now

        def too_old(event: Event) -> bool:
            return event.enqueued + expiry <= now

        if min(self.intake.firsts(), default=math.inf) + expiry <= now:
            for event in self.intake.remove(too_old):
                self._report(Outcome(event, problem=EXPIRED))
        if len(self.retries):
            for event in self.retries.remove(too_old):
                self._report(Outcome(event, problem=EXPIRED))

    def _report(self, outcome: Outcome) -> None:
        self._actions.append(Report(outcome))


STEPS: Final[tuple[tuple[str, Callable[[Loop], None]], ...]] = (
    ("configure any new broker connections", Loop.configure_connections),
    # select readable keys: Ready.connected, arrived, lost
    ("handle responses", Loop.handle_responses),
    # select writable keys: Ready.writable
    (
        "handle topic metadata requests, if there are non-zero partitions in error",
        Loop.handle_metadata,
    ),
    ("handle incomplete requests", Loop.handle_incomplete),
    ("handle retries, if any", Loop.handle_retries),
    ("handle new requests", Loop.handle_new),
)
"""The document's event loop: what it says, and where that is."""


def _any(event: Event) -> bool:
    return True


def _of_topic(topic: str) -> Callable[[Event], bool]:
    return lambda event: event.topic == topic


def _name(error: int) -> str:
    return _NAMES.get(error, f"error {error}")
