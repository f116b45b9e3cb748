"""A consumer of this protocol without sockets: the steps of `REWRITE_CONSUMER`.

    consumer.start(now)          -> actions
    consumer.connected(now)      -> actions
    consumer.receive(data, now)  -> actions
    consumer.lost(now)           -> actions     (the connection is closed, or could not be made)
    consumer.poll(now)           -> actions     (at `consumer.wake`, or whenever the application polls)

The page sends heartbeats in poll() only: so here `poll` is what sends, and an application that does not call
it is a slow consumer. Times are ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.designs.consumer_rewrite import states
from barnabas.designs.consumer_rewrite.peers import requests
from barnabas.designs.consumer_rewrite.peers.actions import Consume, ConsumerAction, Fail, Halt
from barnabas.designs.consumer_rewrite.peers.in_flight import NOTHING, InFlight
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import Partition
from barnabas.designs.consumer_rewrite.peers.wire import error_name
from barnabas.designs.consuming.connector import Connector
from barnabas.designs.consuming.dialer import Transmit
from barnabas.designs.framing import FramingError
from barnabas.specs.groups.table import NONE
from barnabas.specs.malformed import Malformed

CONSUMES: Final = (states.PART_OF_GROUP, states.REDISCOVER)
"""The states in which the application consumes."""


class Consumer:
    """A consumer of one group."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self.settings = settings
        self.state = states.DOWN
        self.generation = -1
        self.consumer_id = ""
        self.owns: tuple[Partition, ...] = ()
        """The assignment of the last JoinGroup, while the consumer may consume."""
        self.positions: dict[Partition, int] = {}
        """The next offset of each partition that the application consumes: it sets them."""
        self.topics = frozenset(settings.topics)
        """All subscribed topics, including the wildcard's."""
        self._named = self.topics
        """Subscribed topics without the wildcard's."""
        self._matched: frozenset[str] = frozenset()
        self.failure: str | None = None
        """The reason why it can't join."""
        self.losses = 0
        """The number of brokers that were given up as dead."""
        self._connector = Connector(settings.bootstrap)
        self._in_flight = InFlight(settings)
        self._pause = 0
        """Not before this time anything is tried again."""
        self._beat = 0
        """The time of the next heartbeat."""
        self._look = 0
        """The time of the next search for topics."""
        self._looked = not settings.wildcard
        self._joined_for = self.topics
        """The topics of the last JoinGroup."""
        self._starting = False
        """Whether offsets to start from are to be fetched."""
        self._committed: dict[Partition, int] = {}
        self._flush = False
        """Whether positions are to be committed before anything else."""
        self._out: list[ConsumerAction] = []

    def start(self, now: int) -> list[ConsumerAction]:
        """Begin to search the coordinator, without a consumer id."""
        self.consumer_id = ""
        self._step(states.START)
        return self.poll(now)

    def stop(self, now: int) -> list[ConsumerAction]:
        """Leave the group without a commit."""
        if self.state != states.DOWN:
            ready = self._connector.up and self._connector.to_coordinator
            if ready and self.consumer_id and not self._in_flight.waits("JoinGroup"):
                group, consumer = self.settings.group_id, self.consumer_id
                self._ask("LeaveGroup", {"group_id": group, "consumer_id": consumer}, now)
            self._step(states.STOP)
            self._halt()
            self._hang_up()
        return self._take_actions()

    @property
    def wake(self) -> int | None:
        """Return the time of the next `poll` in ms, even without a response; None: never."""
        if self.state == states.DOWN:
            return None
        if self._connector.address is None:
            return self._pause
        if not self._connector.up:
            return self._connector.deadline
        times = [request.due for request in self._in_flight.pending]
        if self._connector.coordinator is None:
            times += [] if self._in_flight.pending else [self._pause]
        elif self.settings.wildcard and not self._in_flight.waits("Metadata"):
            times.append(max(self._look, self._pause))
        elif not self._looked:
            pass
        elif self.state != states.PART_OF_GROUP:
            times += [] if self._in_flight.waits("JoinGroup", "OffsetCommit") else [self._pause]
        elif not self._in_flight.waits("Heartbeat"):
            times.append(max(self._beat, self._pause))
        # PART_OF_GROUP: the coordinator is known
        if self._flush and self._looked and self.state == states.PART_OF_GROUP:
            times.append(self._pause)
        return min(times, default=None)

    def connected(self, now: int) -> list[ConsumerAction]:
        """Handle the established connection."""
        self._connector.up = True
        return self.poll(now)

    def lost(self, now: int) -> list[ConsumerAction]:
        """Handle a connection that was closed, or failed."""
        if self._connector.address is not None:
            self._connector.address = None
            self._lose(now)
        return self.poll(now)

    def receive(self, data: bytes, now: int) -> list[ConsumerAction]:
        """Handle bytes of the connection."""
        if not self._connector.up:
            return []
        try:
            for frame in self._connector.frames.take(data):
                self._response(frame, now)
                if self._connector.address is None:
                    break
        except (FramingError, Malformed):
            self._lose(now)
        return self.poll(now)

    def commit(self, now: int) -> list[ConsumerAction]:
        """Commit all positions, with the next poll."""
        self._flush = True
        return self.poll(now)

    def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribe to topics, in addition to the wildcard. After a change the consumer joins again."""
        self._named = frozenset(topics)
        self.topics = self._named | self._matched

    def poll(self, now: int) -> list[ConsumerAction]:
        """Send the requests that are due."""
        if self.state == states.DOWN:
            return self._take_actions()
        late = any(request.due <= now for request in self._in_flight.pending)
        at = self._connector
        if late or (at.address is not None and not at.up and at.deadline <= now):
            self._lose(now)
        if at.address is None and now >= self._pause:
            self._out.append(at.dial(now + self.settings.request_timeout_ms))
        elif at.up and now >= self._pause:
            self._send_next(now)
        return self._take_actions()

    def _step(self, event: str, answer: str = NONE) -> None:
        following = states.REWRITE_CONSUMER.advance(self.state, event, answer)
        before, self.state = self.state, following
        if following not in CONSUMES and before in CONSUMES:
            self._halt()

    def _take_actions(self) -> list[ConsumerAction]:
        out, self._out = self._out, []
        return out

    def _halt(self) -> None:
        if self.owns:
            self._out.append(Halt())
        self.owns, self._starting = (), False

    def _hang_up(self) -> None:
        self._out += self._connector.hang_up()
        # it is unknown whether they are stored
        self._flush |= bool(self._in_flight.offsets())
        self._in_flight.pending.clear()

    def _lose(self, now: int) -> None:
        """Give up the coordinator, or the broker of its search, as dead."""
        self.losses += 1
        self._back_off(now)
        self._step(states.LOST)

    def _back_off(self, now: int) -> None:
        """Close the connection, and ask a known broker for the coordinator later."""
        self._hang_up()
        self._connector.coordinator = None
        self._pause = now + self.settings.backoff_ms

    def _send_next(self, now: int) -> None:
        """Send the next request."""
        if self._connector.coordinator is None:
            if not self._in_flight.pending:
                self._ask("ConsumerMetadata", {"group_id": self.settings.group_id}, now)
            return
        if self.settings.wildcard and now >= self._look and not self._in_flight.waits("Metadata"):
            self._look = now + self.settings.metadata_interval_ms
            self._ask("Metadata", {"topics": []}, now)
        if not self._looked:
            return
        if self.state in (states.DISCOVER, states.STOPPED):
            if self.state == states.STOPPED and self._flush:
                self._commit(now)
            if not self._in_flight.waits("JoinGroup", "OffsetCommit"):
                self._joined_for = self.topics
                body = requests.join(self.settings, self.topics, self.consumer_id)
                self._ask("JoinGroup", body, now)
            return
        if self.topics != self._joined_for:
            self._flush = True
            self._step(states.RESUBSCRIBED)
            self._send_next(now)
            return
        if self._starting and not self._in_flight.waits("OffsetFetch"):
            body = requests.fetch_offsets(self.settings.group_id, self.owns)
            self._ask("OffsetFetch", body, now)
        if self._flush:
            self._commit(now)
        if now >= self._beat and not self._in_flight.waits("Heartbeat"):
            self._beat = now + self.settings.heartbeat_interval_ms
            self._ask("Heartbeat", self._member(), now)

    def _commit(self, now: int) -> None:
        self._flush = False
        sent = self._committed | self._in_flight.offsets()
        new = {at: offset for at, offset in self.positions.items() if sent.get(at) != offset}
        if new and self.consumer_id:
            self._ask("OffsetCommit", self._member() | requests.commit(new, now), now, new)

    def _member(self) -> dict[str, Any]:
        return {
            "group_id": self.settings.group_id,
            "group_generation_id": self.generation,
            "consumer_id": self.consumer_id,
        }

    def _ask(
        self, api: str, body: dict[str, Any], now: int, offsets: Mapping[Partition, int] = NOTHING
    ) -> None:
        self._out.append(Transmit(self._in_flight.ask(api, body, now, offsets)))

    def _response(self, frame: bytes, now: int) -> None:
        """Handle a response. Raises Malformed."""
        pending, body = self._in_flight.take_response(frame)
        handlers = {
            "Metadata": self._matching,
            "ConsumerMetadata": self._discovered,
            "JoinGroup": self._join_answered,
            "OffsetFetch": self._offsets_answered,
        }
        if pending.api == "OffsetCommit":
            self._commit_answered(pending.offsets, body, now)
        elif pending.api in handlers:
            handlers[pending.api](body, now)
        else:
            self._take_step(pending.api, body["error_code"], now)

    def _take_step(self, api: str, code: int, now: int) -> str:
        """Take the step of a response, and return the response's name."""
        answer = error_name(code)
        before = self.state
        self._step(api, answer)
        if answer == states.UNKNOWN_CONSUMER and api in ("Heartbeat", "JoinGroup"):
            self.consumer_id = ""  # the coordinator has forgotten it: it joins as a new one
        if api == "Heartbeat" and self.state == states.STOPPED:
            self._flush = before == states.PART_OF_GROUP
        elif answer == states.NOT_COORDINATOR and self.state != states.STOPPED:
            self._back_off(now)  # in STOPPED its JoinGroup reports it again
        elif answer not in (NONE, states.UNKNOWN_CONSUMER) and api != "OffsetCommit":
            self._pause = self._beat = now + self.settings.backoff_ms
        if self.state == states.DOWN:
            self.failure = answer
            self._out.append(Fail(answer))
            self._hang_up()
        return answer

    def _discovered(self, body: dict[str, Any], now: int) -> None:
        if body["error_code"]:
            self._take_step("ConsumerMetadata", body["error_code"], now)
            self._hang_up()  # another broker may know
            return
        self._connector.coordinator = body["host"], body["port"]
        if not self._connector.to_coordinator:
            self._hang_up()
        self._beat = now
        self._step("ConsumerMetadata")

    def _join_answered(self, body: dict[str, Any], now: int) -> None:
        if self._take_step("JoinGroup", body["error_code"], now) != NONE:
            return
        self.generation, self.consumer_id = body["group_generation_id"], body["consumer_id"]
        self.owns = requests.assigned(body)
        self.positions, self._committed, self._flush = {}, {}, False
        self._starting = bool(self.owns)
        self._beat = now + self.settings.heartbeat_interval_ms

    def _commit_answered(
        self, offsets: Mapping[Partition, int], body: dict[str, Any], now: int
    ) -> None:
        codes = requests.committed(body)
        self._committed |= {at: to for at, to in offsets.items() if codes.get(at) == 0}
        answer = self._take_step("OffsetCommit", next(filter(None, codes.values()), 0), now)
        if answer == states.NOT_COMPLETE:
            self._flush, self._pause = True, now + self.settings.backoff_ms
        elif answer == states.NOT_COORDINATOR and self.state == states.REDISCOVER:
            self._flush = True  # for the next coordinator

    def _offsets_answered(self, body: dict[str, Any], now: int) -> None:
        offsets = requests.fetched_offsets(body)
        codes = (code for _, code in offsets.values())
        answer = self._take_step("OffsetFetch", next(filter(None, codes), 0), now)
        if answer != NONE or not self._starting:
            return
        self._starting = False
        self.positions = {at: max(0, offsets.get(at, (0, 0))[0]) for at in self.owns}
        self._committed = dict(self.positions)
        self._out.append(Consume(self.generation, dict(self.positions)))

    def _matching(self, body: dict[str, Any], now: int) -> None:
        """Subscribe to the topics of a Metadata response that the wildcard matches."""
        names = (topic["name"] for topic in body["topics"])
        self._matched = frozenset(name for name in names if self.settings.matches(name))
        self._looked, self.topics = True, self._named | self._matched
