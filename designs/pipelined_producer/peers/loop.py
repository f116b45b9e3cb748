"""What the send thread knows and does in each step of its event loop, without sockets and without a clock.

What the document gives no place: what did not come (answers that are late, events that are too old) is
given up once it is known what did, with the responses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from barnabas.designs.dialogue import Answer, ProtocolError
from barnabas.designs.leaders import STALE, Address, Place
from barnabas.designs.pipelined_producer.peers.actions import (
    METADATA,
    Action,
    Close,
    Connect,
    Heard,
    Report,
    Takes,
    Write,
)
from barnabas.designs.pipelined_producer.peers.batch import collate
from barnabas.designs.pipelined_producer.peers.delivery_reports import (
    CLOSED,
    LATE,
    LOST,
    DeliveryReports,
)
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Outcome
from barnabas.designs.pipelined_producer.peers.intake import Intake
from barnabas.designs.pipelined_producer.peers.link import Link, Sent, State, produce_version
from barnabas.designs.pipelined_producer.peers.links import Links
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.refresher import Refresher
from barnabas.designs.pipelined_producer.peers.retries import Retries
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN, Serializers
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.keys import API_VERSIONS, PRODUCE

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
        self.heard = Heard({}, ())
        self.takes = Takes(set(), ())
        """What the last selects found: set by who has the sockets."""
        self.now = 0.0
        """When the last wait was over, for all steps until the next: nothing gets due unseen between two."""
        self.hurry = False
        """Whether batches that are not full go at once."""
        self._serializers = serializers
        self._fates = DeliveryReports(
            settings, intake, self.retries, self.refresher.error, self._report
        )
        self._actions: list[Action] = []

    def do(self, step: Callable[[Loop], None]) -> list[Action]:
        """Take a step; gives what to do, in order, before the next one."""
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
                self._fates.acknowledged(events)

    def give_up(self) -> None:
        """End: close all connections, and say of everything that is left that it was not sent."""
        for link in self.links.all():
            if link.state != State.DOWN:
                self._actions.append(Close(link.node))
            for sent in link.down(self.settings.client_id, math.inf):
                for events in sent.batches.values():
                    self._fates.given_up(events, CLOSED)
        self._fates.end()

    def configure_connections(self) -> None:
        """Go on with those that are there now; connect to brokers for which there is something."""
        for node in self.takes.connected:
            self._connected(node)
        for node in self.unconnected():
            self._connect(self.links.to(node))

    def handle_responses(self) -> None:
        """All answers that are whole; then the connections that ended, and what did not come in time."""
        for node, data in self.heard.arrived.items():
            link = self.links.get(node)
            if link is not None:
                link.dialogue.feed(data)
        for link in self.links.all():
            problem = LOST if link.node in self.heard.lost else ""
            if self.standing_still and link.node != METADATA and not problem:
                continue  # nobody reads while metadata are waited for
            try:
                for answer in link.dialogue.answers():
                    self._answered(link, answer)
            except ProtocolError as nonsense:
                problem = str(nonsense)
            if not problem and self.late(link):
                problem = LATE
            if problem and link.state != State.DOWN:
                self._lose(link, problem)
        self._fates.expire(self.now)

    def handle_metadata(self) -> None:
        """Ask who leads, if something waits for that or an answer said that it changed."""
        refresher = self.refresher
        link = refresher.link
        places = self.places()
        if refresher.busy or link.not_before > self.now or not refresher.needed(places, self.now):
            return
        if link.state == State.DOWN:
            link.address = refresher.next_address()
            link.state, link.until = State.CONNECTING, self._later(self.settings.answer_timeout_ms)
            self._actions.append(Connect(METADATA, link.address))
        elif METADATA in self.takes.writable and not link.outgoing:
            self._write(link, refresher.ask(places, self.now))

    def handle_incomplete(self) -> None:
        """Go on with requests of which the socket did not take everything."""
        for link in self._writable():
            if link.outgoing:
                self._write(link, link.outgoing)

    def handle_retries(self) -> None:
        """What is due is sent again before anything new, to whoever leads now."""
        for link in self._writable():
            if self.links.has_room(link) and len(self.retries):
                batches = self.retries.take(self.links.served(link), self.now)
                self._send(link, batches, self.retries.put_back)

    def handle_new(self) -> None:
        """Poll the queues of the partitions that a broker leads; one request each, if it may be."""
        for link in self._writable():
            if self.links.has_room(link):
                places = self.links.served(link, but=self.retries.held())
                batches = self.intake.take(places, self.settings.batch_messages, self.ripe)
                self._send(link, batches, self.intake.put_back)

    def late(self, link: Link) -> bool:
        """Whether to give a connection up; while metadata are waited for, nobody reads the others."""
        if link.state == State.DOWN or (link.node != METADATA and self.standing_still):
            return False
        return min(link.until, *(sent.until for sent in link.in_flight[:1]), math.inf) <= self.now

    def unconnected(self) -> list[int]:
        """The brokers for which there is something, and to which a connection may be made now."""
        wanted = set() if self.standing_still else self.places()
        keyless = {topic for topic, partition in wanted if partition == UNDESIGNATED}
        return [
            node
            for node, places in self.refresher.led.items()
            if self.links.to(node).state == State.DOWN
            and self.links.to(node).not_before <= self.now
            and any(place in wanted or place[0] in keyless for place in places)
        ]

    def places(self) -> set[Place]:
        """The partitions for which there is something, and -1 of topics for what has none yet."""
        return set(self.intake.waiting()) | self.retries.held()

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
        return math.inf if self.hurry else self.now - self.settings.linger_ms / 1e3 + _NOW

    def _later(self, ms: float) -> float:
        return self.now + ms / 1e3

    def _writable(self) -> Iterator[Link]:
        """Those that take bytes; while metadata are waited for, only that connection."""
        for link in self.links.all():
            takes = link.up and link.node in self.takes.writable
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

    def _write(self, link: Link, data: bytes | memoryview) -> None:
        link.outgoing = memoryview(data)
        self.takes.writable.discard(link.node)  # once a round: then it is asked again
        self._actions.append(Write(link.node, link.outgoing))

    def _send(self, link: Link, batches: Batches, put_back: Callable[[Batches], None]) -> None:
        if not batches:
            return
        made = collate(batches, link.version, self.settings, self._serializers)
        for outcome in made.failed:
            self._report(outcome)
        put_back(made.left)
        if not made.sent:
            return
        answered = self.settings.acks != 0
        request = Sent(made.sent, self._later(self.settings.answer_timeout_ms))
        data = link.dialogue.ask(PRODUCE, link.version, made.body, answered=answered, note=request)
        link.depart(request, answered=answered)
        self._write(link, data)
        self.links.served_now(link, made.sent if made.left else ())

    def _answered(self, link: Link, answer: Answer) -> None:
        """Raises ProtocolError."""
        link.heard = True
        question = answer.question
        if question.key == PRODUCE:
            self._produced(link, question.note, answer.body)
            return
        link.until = math.inf
        if question.key == API_VERSIONS:
            link.version = produce_version(answer.body)
            link.state = State.READY
        else:
            self._adopt(answer.body, question.note)

    def _adopt(self, body: dict[str, Any], asked: float) -> None:
        refused = self.refresher.adopt(body, self.now)
        view = self.refresher.view
        for outcome in self.intake.known(view.partitions):
            self._report(outcome)
        for topic, error in refused.items():
            self._fates.no_topic(topic, error)
        self._fates.no_partition(self.places(), view.partitions, asked)
        for link in list(self.links.brokers.values()):
            if view.brokers.get(link.node) != link.address and link.state != State.DOWN:
                self._lose(link)
        self.refresher.stale = False  # what was just closed is known

    def _produced(self, link: Link, sent: Sent, body: dict[str, Any]) -> None:
        said = {
            (topic["name"], part["index"]): (part["error_code"], part["base_offset"])
            for topic in body["responses"]
            for part in topic["partition_responses"]
        }
        if said.keys() != sent.batches.keys():
            raise ProtocolError("the broker answers for other partitions than were sent")
        link.arrive(sent)
        for place, events in sent.batches.items():
            error, offset = said[place]
            self.refresher.stale |= error in STALE
            if error:
                self._fates.refused(place, events, error, self.now)
            else:
                self._fates.acknowledged(events, offset)

    def _lose(self, link: Link, problem: str = LOST) -> None:
        """A connection has ended, or can't be used any more; what was in flight may be written or not."""
        self._actions.append(Close(link.node))
        lost = link.down(self.settings.client_id, self._later(self.settings.reconnect_backoff_ms))
        link.until = math.inf
        self.refresher.stale = True
        for sent in lost:
            for place, events in sent.batches.items():
                self._fates.lost(place, events, problem, self.now)

    def _report(self, outcome: Outcome) -> None:
        self._actions.append(Report(outcome))
