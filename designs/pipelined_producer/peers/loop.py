"""The send thread's state, and each step of its event loop: no sockets, no clock.

The document has no step for timeouts: late responses and old events. The step that handles responses gives
them up after the responses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from barnabas.designs.dialogue import Answer, ProtocolError
from barnabas.designs.leaders import STALE, Address, TopicPartition
from barnabas.designs.pipelined_producer.peers import actions, delivery_reports
from barnabas.designs.pipelined_producer.peers.batch import collate
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED
from barnabas.designs.pipelined_producer.peers.intake import Intake
from barnabas.designs.pipelined_producer.peers.links import (
    METADATA,
    Link,
    Links,
    SentRequest,
    State,
)
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.refresher import Refresher
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN, Serializers
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.designs.protocol_guide.client_0_8.requests import produced
from barnabas.specs.keys import API_VERSIONS, PRODUCE

_NOW: Final = 1e-6  # seconds that times may be off by, as sums of floats are


class Loop:
    """The state of the send thread. bootstrap: brokers to ask for metadata first. Times in seconds."""

    def __init__(
        self,
        bootstrap: Iterable[Address],
        settings: Settings,
        intake: Intake,
        serializers: Serializers = PLAIN,
    ) -> None:
        self.settings = settings
        self.intake = intake
        self.links = Links(settings)
        self.refresher = Refresher(bootstrap, settings, self.links)
        self.retries = delivery_reports.Retries()
        self.heard = actions.ReadResult({}, ())
        self.takes = actions.WriteResult(set(), ())
        """The results of the last selects, set by the owner of the sockets."""
        self.now = 0.0
        """The end of the last wait, for all steps until the next: no time passes between two steps."""
        self.hurry = False
        """Whether batches that are not full are sent at once."""
        self._serializers = serializers
        self.actions: list[actions.Action] = []
        """The actions of the present step."""
        self._reports = delivery_reports.DeliveryReports(
            settings,
            intake,
            self.retries,
            self.refresher.error,
            lambda outcome: self.actions.append(actions.Report(outcome)),
        )

    def do(self, step: Callable[[Loop], None]) -> list[actions.Action]:
        """Take a step; return its actions, to be performed before the next step."""
        step(self)
        todo, self.actions = self.actions, []
        return todo

    def wrote(self, node: int, count: int) -> None:
        """Take the number of bytes of the last Write that the socket accepted."""
        link = self.links.to(node)
        link.outgoing = link.outgoing[count:]
        if not link.outgoing and link.writing is not None:  # acks=0: there is no response
            sent, link.writing = link.writing, None
            for events in sent.batches.values():
                self._reports.acknowledged(events)

    def give_up(self) -> None:
        """Close all connections, and report everything else as not sent."""
        for link in self.links.all():
            if link.state != State.DOWN:
                self.actions.append(actions.Close(link.node))
            for sent in link.down(self.settings.client_id, math.inf):
                for events in sent.batches.values():
                    self._reports.given_up(events, delivery_reports.CLOSED)
        self._reports.expire(math.inf, delivery_reports.CLOSED)

    def configure_connections(self) -> None:
        """Set up new connections; connect to brokers that lead partitions with waiting events."""
        for node in self.takes.connected:
            self._connected(node)
        waiting = set() if self.standing_still else self.places()
        keyless = {topic for topic, partition in waiting if partition == UNDESIGNATED}
        for node, places in self.links.led.items():
            link = self.links.to(node)
            free = link.state == State.DOWN and link.not_before <= self.now
            if free and any(led in waiting or led[0] in keyless for led in places):
                self._connect(link, self.refresher.view.brokers[node])

    def handle_responses(self) -> None:
        """Handle complete responses; then lost connections, late responses and old events."""
        for node, data in self.heard.arrived.items():
            self.links.to(node).dialogue.feed(data)
        for link in self.links.all():
            problem = delivery_reports.LOST if link.node in self.heard.lost else ""
            if self.standing_still and link.node != METADATA and not problem:
                continue  # the producer reads nothing else while it waits for metadata
            try:
                for answer in link.dialogue.answers():
                    self._handle_response(link, answer)
            except ProtocolError as nonsense:
                problem = str(nonsense)
            if not problem and link.deadline <= self.now:
                problem = delivery_reports.LATE
            if problem and link.state != State.DOWN:
                self._lose(link, problem)
        self._reports.expire(self.now)

    def handle_metadata(self) -> None:
        """Ask for metadata if events wait for it or a response contradicted it."""
        link, places = self.refresher.link, self.places()
        if not self.refresher.needed(places, self.now):
            return
        if link.state == State.DOWN:
            self._connect(link, self.refresher.next_address())
        elif METADATA in self.takes.writable and not link.outgoing:
            self._write(link, self.refresher.ask(places, self.now))

    def handle_incomplete(self) -> None:
        """Continue requests that the socket did not take completely."""
        for link in self._writable():
            if link.outgoing:
                self._write(link, link.outgoing)

    def handle_retries(self) -> None:
        """Send due batches again, to the present leader, before any new ones."""
        for link in self._writable():
            if self.links.has_room(link) and len(self.retries):
                batches = self.retries.take(self.links.served(link), self.now)
                self._send(link, batches, self.retries.put_back)

    def handle_new(self) -> None:
        """Send each broker a request from the queues of the partitions that it leads."""
        for link in self._writable():
            if self.links.has_room(link):
                places = self.links.served(link, but=self.retries.held())
                batches = self.intake.take(places, self.settings.batch_messages, self.ripe)
                self._send(link, batches, self.intake.put_back)

    def in_use(self) -> list[Link]:
        """Return the links in use: while metadata block the producer, only that for them."""
        return [self.links.metadata] if self.standing_still else self.links.all()

    def places(self) -> set[TopicPartition]:
        """Return the partitions with waiting events; -1 for events without a partition."""
        return set(self.intake.waiting()) | self.retries.held()

    @property
    def standing_still(self) -> bool:
        """Return whether everything waits for metadata."""
        return self.settings.metadata == "blocking" and self.refresher.busy

    @property
    def ripe(self) -> float:
        """Return the time of enqueueing up to which a batch need not be full."""
        return math.inf if self.hurry else self.now - self.settings.linger_ms / 1e3 + _NOW

    def _later(self, ms: float) -> float:
        return self.now + ms / 1e3

    def _writable(self) -> Iterator[Link]:
        return (link for link in self.in_use() if link.up and link.node in self.takes.writable)

    def _connect(self, link: Link, address: Address) -> None:
        link.address, link.state = address, State.CONNECTING
        link.until = self._later(self.settings.answer_timeout_ms)
        self.actions.append(actions.Connect(link.node, address))

    def _connected(self, node: int) -> None:
        link = self.links.to(node)
        if link.state != State.CONNECTING:
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
        self.takes.writable.discard(link.node)  # once a round: then metadata are requested again
        self.actions.append(actions.Write(link.node, link.outgoing))

    def _send(self, link: Link, batches: Batches, put_back: Callable[[Batches], None]) -> None:
        if not batches:
            return
        collated = collate(batches, link.version, self.settings, self._serializers)
        self.actions += map(actions.Report, collated.failed)
        put_back(collated.unsent)
        if not collated.sent:
            return
        answered = self.settings.acks != 0
        request = SentRequest(collated.sent, self._later(self.settings.answer_timeout_ms))
        data = link.dialogue.ask(
            PRODUCE, link.version, collated.body, answered=answered, note=request
        )
        link.writing = None if answered else request
        self._write(link, data)
        self.links.served_now(link, collated.sent if collated.unsent else ())

    def _handle_response(self, link: Link, answer: Answer) -> None:
        """Handle a response. Raises ProtocolError."""
        link.heard, link.until = True, math.inf
        question = answer.question
        if question.key == PRODUCE:
            self._produced(link, answer)
        elif question.key == API_VERSIONS:
            link.offered(answer.body["api_keys"])
        else:
            self._adopt(answer.body, question.note)

    def _adopt(self, body: dict[str, Any], asked_at: float) -> None:
        refused = self.refresher.adopt(body, self.now)
        view = self.refresher.view
        self.actions += map(actions.Report, self.intake.known(view.partitions))
        for topic, error in refused.items():
            self._reports.no_topic(topic, error)
        self._reports.no_partition(self.places(), view.partitions, asked_at)
        for link in list(self.links.brokers.values()):
            if view.brokers.get(link.node) != link.address and link.state != State.DOWN:
                self._lose(link)
        self.refresher.stale = False  # these connections were closed because of the new view

    def _produced(self, link: Link, answer: Answer) -> None:
        sent: SentRequest = answer.question.note
        results = produced(answer.body)
        if results.keys() != sent.batches.keys():
            link.dialogue.waiting.appendleft(answer.question)  # it is lost with the connection
            raise ProtocolError("the broker answers for other partitions than were sent")
        for partition, events in sent.batches.items():
            error, offset = results[partition]
            self.refresher.stale |= error in STALE
            if error:
                self._reports.failed(partition, events, error, self.now)
            else:
                self._reports.acknowledged(events, offset)

    def _lose(self, link: Link, problem: str = delivery_reports.LOST) -> None:
        """Close a connection; its requests in flight may be written or not."""
        self.actions.append(actions.Close(link.node))
        lost = link.down(self.settings.client_id, self._later(self.settings.reconnect_backoff_ms))
        self.refresher.stale = True
        for sent in lost:
            for partition, events in sent.batches.items():
                self._reports.failed(partition, events, problem, self.now)
