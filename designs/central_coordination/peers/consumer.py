"""A consumer of this protocol without sockets: it sends two requests, and after that only responses.

    consumer.start(now)          -> actions
    consumer.connected(now)      -> actions
    consumer.receive(data, now)  -> actions
    consumer.lost(now)           -> actions     (the connection is closed, or could not be made)
    consumer.tick(now)           -> actions     (at `consumer.wake`)

Times are ms.
"""

from __future__ import annotations

from barnabas.designs.brokers.listener import Address, Log
from barnabas.designs.central_coordination import states
from barnabas.designs.central_coordination.peers.actions import (
    ConsumerAction,
    StartFetchers,
    StopFetchers,
)
from barnabas.designs.central_coordination.peers.interest import Partition
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from barnabas.designs.central_coordination.peers.wire import (
    read_request,
    read_response,
    request,
    response,
)
from barnabas.designs.consuming.connector import Connector
from barnabas.designs.consuming.dialer import Transmit
from barnabas.designs.framing import FramingError
from barnabas.specs.groups.table import NONE
from barnabas.specs.malformed import Malformed

NOWHERE = -1
"""The offset of a partition without a known one: auto_offset_reset decides."""

LogEnds = tuple[int, int]
"""The smallest and the largest offset that a fetcher may begin at; the latter is the log's end."""


def begin(offset: int, ends: LogEnds, reset: str) -> int:
    """Return the start of a fetcher: its offset or, if that is out of range, the one that `reset` chooses."""
    smallest, largest = ends
    if smallest <= offset <= largest:
        return offset
    return smallest if reset == "smallest" else largest


class Consumer:
    """A consumer of one group."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self.settings = settings
        self.state = states.DOWN
        self.positions: dict[Partition, int] = {}
        """The next offset of each partition that it owns: the application sets them."""
        self.refused = ""
        """The error of the last registration."""
        self.losses = 0
        """The number of connections that were given up as lost."""
        self.brokers: dict[int, Address] = {}
        """The cluster's brokers by id, from the last ClusterMetadata."""
        self.coordinator_id = -1
        """The coordinator in the last ClusterMetadata; -1: none."""
        self._connector = Connector(settings.bootstrap)
        self._unreached = 0
        """Successive known brokers without a connection."""
        self._pause = 0
        self._out: list[ConsumerAction] = []

    @property
    def wake(self) -> int | None:
        """Return the time of the next `tick` in ms; None: not needed."""
        if self.state == states.DOWN:
            return None
        return self._pause if self._connector.address is None else self._connector.deadline

    def start(self, now: int) -> list[ConsumerAction]:
        """Begin to search the coordinator."""
        self._step(states.START)
        return self.tick(now)

    def stop(self) -> list[ConsumerAction]:
        """Close the connection. The document has no request to leave."""
        if self.state != states.DOWN:
            self._step(states.STOP)
            self._out += self._connector.hang_up()
        return self._take_actions()

    def connected(self, now: int) -> list[ConsumerAction]:
        """Handle the established connection."""
        self._connector.up = True
        self._connector.deadline = now + self.settings.request_timeout_ms
        settings = self.settings
        if self.state == states.CONSULTING:
            self._unreached = 0
            self._out.append(Transmit(request("ClusterMetadata")))
        else:
            body = {
                "group_id": settings.group_id,
                "consumer_id": settings.consumer_id,
                "topic_count": settings.topic_count,
                "auto_commit": settings.auto_commit,
                "auto_offset_reset": settings.auto_offset_reset,
                "session_timeout_ms": settings.session_timeout_ms,
            }
            self._out.append(Transmit(request("RegisterConsumer", body)))
        return self._take_actions()

    def lost(self, now: int) -> list[ConsumerAction]:
        """Handle a connection that was closed, or failed."""
        address, self._connector.address = self._connector.address, None
        if address is not None:
            reason = (
                "the connection is closed" if self._connector.up else "no connection can be made"
            )
            self._lose(address, reason, now)
        return self.tick(now)

    def receive(self, data: bytes, now: int) -> list[ConsumerAction]:
        """Handle bytes of the connection; bytes after too long a silence are ignored."""
        address = self._connector.address
        if address is None or not self._connector.up:
            return []
        if self._connector.deadline <= now:
            return self.tick(now)
        try:
            for frame in self._connector.frames.take(data):
                self._frame(address, frame, now)
                if self._connector.address is None:
                    break
        except (FramingError, Malformed) as problem:
            self._lose(address, f"no frame of this protocol: {problem}", now)
        return self.tick(now)

    def tick(self, now: int) -> list[ConsumerAction]:
        """Perform what is due."""
        if self.state == states.DOWN:
            return self._take_actions()
        if self._connector.address is not None and self._connector.deadline <= now:
            up = self._connector.up
            reason = "nothing comes any more" if up else "no connection within the timeout"
            self._lose(self._connector.address, reason, now)
        if self._connector.address is None and self._pause <= now:
            self._out.append(self._connector.dial(now + self.settings.request_timeout_ms))
        return self._take_actions()

    def _take_actions(self) -> list[ConsumerAction]:
        out, self._out = self._out, []
        return out

    def _step(self, event: str, answer: str = NONE) -> None:
        following = states.CENTRAL_CONSUMER.step(self.state, event, answer)
        if following is None:
            raise Malformed("request_type_id", 0, f"{event} ({answer}) in state {self.state}")
        before, self.state = self.state, following
        if before == states.FETCHING and following != states.FETCHING:
            self._out.append(StopFetchers())

    def _error(self, text: str) -> None:
        self._out.append(Log("ERROR", f"{self.settings.consumer_id}: {text}"))

    def _lose(self, address: Address, reason: str, now: int) -> None:
        """Stop the fetchers, and go back to the known brokers."""
        self.losses += 1
        self._error(f"{address[0]}:{address[1]}: {reason}")
        if self.state == states.CONSULTING and not self._connector.up:
            self._unreached += 1
            if self._unreached % len(self.settings.bootstrap) == 0:
                self._error("AllKnownBrokersNotAvailable")
        self._back_off(now)
        self._step(states.LOST)

    def _back_off(self, now: int) -> None:
        """Close the connection, and ask a known broker for the coordinator later."""
        self._out += self._connector.hang_up()
        self._connector.coordinator = None
        self._pause = now + self.settings.backoff_ms

    def _frame(self, address: Address, frame: bytes, now: int) -> None:
        """Handle a frame: one response to each of its own requests, then requests. Raises Malformed."""
        if self.state == states.CONSULTING:
            error, body = read_response(frame, "ClusterMetadata")
            if error == NONE:
                self.brokers = {
                    broker["id"]: (broker["host"], broker["port"])
                    for broker in body["brokers_info"]
                }
                self.coordinator_id = body["coordinator_id"]
            coordinator = self.brokers.get(self.coordinator_id) if error == NONE else None
            self._back_off(now)
            if coordinator is not None:
                self._connector.coordinator, self._pause = coordinator, now
            else:
                result = str(self.coordinator_id) if error == NONE else error
                self._error(f"{address[0]}:{address[1]} knows no coordinator: {result}")
                error = "Unknown" if error == NONE else error
            self._step("ClusterMetadata", error)
        elif self.state == states.REGISTERING:
            self.refused, _ = read_response(frame, "RegisterConsumer")
            self._step("RegisterConsumer", self.refused)
            self._connector.deadline = now + self.settings.silence
            if self.state == states.CONSULTING:
                self._error(f"the registration is refused: {self.refused}")
                self._back_off(now)
        else:
            self._handle_request(frame, now)

    def _handle_request(self, frame: bytes, now: int) -> None:
        """Handle a request of the coordinator. Raises Malformed."""
        api, body = read_request(frame)
        self._step(api)
        self._connector.deadline = now + self.settings.silence
        auto = self.settings.auto_commit
        answer = response(api, offsets=auto)
        if api == "StopFetcher" and auto:
            rows = [
                {"topic": topic, "partition": number, "offset": offset}
                for (topic, number), offset in sorted(self.positions.items())
                if offset != NOWHERE
            ]
            answer = response(api, body={"offset_info": rows})
        elif api == "StartFetcher":
            self.positions = {
                (entry["topic"], entry["partition"]): entry["offset"]
                for entry in body["offset_info"]
            }
            self._out.append(StartFetchers(dict(self.positions)))
        self._out.append(Transmit(answer))
