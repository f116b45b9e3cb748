"""A broker of this protocol without sockets: ClusterMetadata, and the coordinator.

broker.receive(connection, data, now) -> actions
broker.closed(connection, now)        -> actions
broker.tick(now)                      -> actions     (at `broker.wake`)
broker.elected(topics, now), .resigned(), .topics(topics, now)
broker.offsets(request, offsets, now), .no_offsets(group, reason, now)
"""

from __future__ import annotations

import itertools
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from barnabas.designs.brokers.listener import Address, Close, Send
from barnabas.designs.central_coordination.peers.actions import BrokerAction, ReadOffsets
from barnabas.designs.central_coordination.peers.group import Group, Registered
from barnabas.designs.central_coordination.peers.interest import Partition, parse
from barnabas.designs.central_coordination.peers.registration import refused
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.central_coordination.peers.wire import (
    read_request,
    read_response,
    response,
)
from barnabas.designs.central_coordination.states import QUEUED
from barnabas.designs.framing import Frames, FramingError
from barnabas.specs.malformed import Malformed


def queue_of(group: str, queues: int) -> int:
    """Return the number of a group's rebalance queue and thread."""
    return zlib.crc32(group.encode()) % queues


@dataclass
class _Connection:
    frames: Frames
    group: str = ""
    consumer: Registered | None = None
    """The consumer registered on the connection, which then only responds."""


class Broker:
    """A broker and, if it is elected, the coordinator. All times are ms."""

    def __init__(self, node: int, settings: BrokerSettings) -> None:
        self.node = node
        self.settings = settings
        self.coordinates = False
        self.groups: dict[str, Group] = {}
        self.queues: list[deque[str]] = [deque() for _ in range(settings.rebalance_threads)]
        """Names of groups that are to be rebalanced; each queue has a thread, which is at one of them."""
        self._working: list[str | None] = [None] * settings.rebalance_threads
        self._readings = itertools.count(1)
        self._topics: dict[str, tuple[str, ...]] = {}
        self._nodes: dict[int, Address] = {}
        self._coordinator = -1
        self._connections: dict[int, _Connection] = {}
        self._out: list[BrokerAction] = []

    @property
    def wake(self) -> int | None:
        """Return the time of the next `tick` in ms; None: not needed."""
        times = []
        for consumer in (
            consumer for group in self.groups.values() for consumer in group.consumers.values()
        ):
            if consumer.pinged:
                times.append(consumer.ping_due)
            times += [request.due for request in consumer.sent_requests if not request.late]
        return min(times, default=None)

    def cluster(self, nodes: Mapping[int, Address], coordinator: int) -> None:
        """Set the live brokers with their addresses, and the coordinator; -1: there is none."""
        self._nodes, self._coordinator = dict(nodes), coordinator

    def elected(self, topics: Mapping[str, Sequence[str]], now: int) -> list[BrokerAction]:
        """Begin to coordinate, without any consumer: consumers find this broker."""
        self.coordinates = True
        return self.topics(topics, now)

    def resigned(self) -> list[BrokerAction]:
        """Stop coordinating: forget all consumers, and close their connections."""
        self.coordinates = False
        for number in [
            n for n, connection in self._connections.items() if connection.consumer is not None
        ]:
            self._out.append(Close(number, "coordinates no longer"))
            del self._connections[number]
        self.groups = {}
        self.queues = [deque() for _ in self.queues]
        self._working = [None] * len(self.queues)
        return self._take_actions()

    def topics(self, topics: Mapping[str, Sequence[str]], now: int) -> list[BrokerAction]:
        """Set all topics with the names of their partitions."""
        self._topics = {topic: tuple(partitions) for topic, partitions in topics.items()}
        for group in tuple(self.groups.values()):
            self._try(group)
        return self._settled(now)

    def offsets(
        self, request: ReadOffsets, offsets: Mapping[Partition, int], now: int
    ) -> list[BrokerAction]:
        """Take the offsets that a `ReadOffsets` found."""
        if request.group in self.groups:
            self._out += self.groups[request.group].offsets(request, offsets, now)
        return self._settled(now)

    def no_offsets(self, group: str, reason: str, now: int) -> list[BrokerAction]:
        """Drop a group whose offsets could not be read or stored; its consumers register again."""
        if group in self.groups:
            for consumer in tuple(self.groups[group].consumers.values()):
                self._drop(consumer.connection, reason, now)
        return self._settled(now)

    def connected(self, connection: int, host: str = "") -> None:
        """Note a new connection, whose number is unique."""
        self._connections[connection] = _Connection(Frames(self.settings.frame_limit))

    def receive(self, connection: int, data: bytes, now: int) -> list[BrokerAction]:
        """Handle bytes of a connection."""
        at = self._connections.get(connection)
        if at is None:
            return []
        try:
            for frame in at.frames.take(data):
                if connection not in self._connections:
                    break
                if at.consumer is None:
                    self._handle_request(connection, at, frame, now)
                else:
                    self._handle_response(at, frame, now)
        except (FramingError, Malformed) as problem:
            self._drop(connection, f"no frame of this protocol: {problem}", now)
        return self._settled(now)

    def closed(self, connection: int, now: int) -> list[BrokerAction]:
        """Handle a connection that the client has closed, or that broke."""
        self._drop(connection, "connection closed", now)
        return self._settled(now)

    def tick(self, now: int) -> list[BrokerAction]:
        """Send pings, and handle late responses."""
        for number, at in tuple(self._connections.items()):
            consumer = at.consumer
            if consumer is None or number not in self._connections:
                continue
            self._watch(number, consumer, now)
            if number in self._connections and consumer.pinged and consumer.ping_due <= now:
                consumer.ping_due = now + consumer.session_timeout_ms // 3
                self._out.append(consumer.ask("Ping", now))
        return self._settled(now)

    def _settled(self, now: int) -> list[BrokerAction]:
        self._work(now)
        return self._take_actions()

    def _take_actions(self) -> list[BrokerAction]:
        out, self._out = self._out, []
        return out

    def _watch(self, number: int, consumer: Registered, now: int) -> None:
        for request in consumer.sent_requests:
            if request.late or request.due > now:
                continue
            request.late = True
            consumer.lost_pings += request.api == "Ping"
            if request.api != "Ping":
                self._drop(number, f"no answer to {request.api}", now)
                return
            if consumer.lost_pings > self.settings.max_failed_pings:
                self._drop(number, f"{consumer.lost_pings} pings were lost", now)
                return

    def _handle_request(self, connection: int, at: _Connection, frame: bytes, now: int) -> None:
        """Handle a request. Raises Malformed."""
        api, body = read_request(frame)
        if api == "ClusterMetadata":
            brokers = [
                {"id": node, "host": host, "port": port}
                for node, (host, port) in sorted(self._nodes.items())
            ]
            known = {"coordinator_id": self._coordinator, "brokers_info": brokers}
            self._out.append(Send(connection, response(api, body=known)))
        elif api == "RegisterConsumer":
            error, reason = "Unknown", f"broker {self.node} does not coordinate"
            if self.coordinates:
                group = self.groups.get(body["group_id"])
                error, reason = refused(body, group, self.settings.min_session_timeout_ms)
            self._out.append(Send(connection, response(api, error)))
            if error == "NONE":
                self._register(connection, at, body, now)
            else:
                self._drop(connection, f"{body['consumer_id']} is refused: {error}: {reason}", now)
        else:
            raise Malformed("request_type_id", 0, f"{api} is the coordinator's to ask")

    def _register(self, connection: int, at: _Connection, body: dict[str, Any], now: int) -> None:
        at.group = body["group_id"]
        at.consumer = Registered(
            body["consumer_id"],
            connection,
            parse(body["topic_count"]),
            bool(body["auto_commit"]),
            body["session_timeout_ms"],
            ping_due=now + body["session_timeout_ms"] // 3,
        )
        group = self.groups.get(at.group)
        if group is None:
            group = Group(at.group, self.settings.rebalance_retries, self._readings)
            self.groups[at.group] = group
        self._out += group.registered(at.consumer, now)
        self._try(group)

    def _handle_response(self, at: _Connection, frame: bytes, now: int) -> None:
        """Handle a response of a registered consumer. Raises Malformed."""
        consumer, group = at.consumer, self.groups[at.group]
        assert consumer is not None  # noqa: S101 - the caller looked
        if not consumer.sent_requests:
            raise Malformed("header", 0, "nothing was asked")
        request = consumer.sent_requests.popleft()
        error, body = read_response(frame, request.api, offsets=consumer.auto_commit)
        if error != "NONE":
            self._drop(consumer.connection, f"{request.api} answered with {error}", now)
        elif request.api == "Ping":
            consumer.lost_pings = 0
        elif request.api == "StopFetcher":
            rows = body.get("offset_info", [])
            if any(row["offset"] < 0 for row in rows):
                raise Malformed("offset_info.offset", 0, "an offset below 0")
            known = group.partitions(self._topics)
            offsets = {
                (row["topic"], row["partition"]): row["offset"]
                for row in rows
                if row["partition"] in known.get(row["topic"], ())
            }
            self._out += group.stopped(offsets)
        else:
            self._out += group.started()

    def _drop(self, connection: int, reason: str, now: int) -> None:
        """Close a connection; a consumer registered on it has failed."""
        at = self._connections.pop(connection, None)
        if at is None:
            return
        if at.consumer is None:
            self._out.append(Close(connection, reason))
            return
        group = self.groups[at.group]
        self._out += group.failed(at.consumer.consumer_id, reason, now)
        if not group.consumers:
            self._forget(group)
        else:
            self._try(group)

    def _forget(self, group: Group) -> None:
        """Forget a group without consumers."""
        number = queue_of(group.name, len(self.queues))
        if group.name in self.queues[number]:
            self.queues[number].remove(group.name)
        if self._working[number] == group.name:
            self._working[number] = None
        del self.groups[group.name]

    def _try(self, group: Group) -> None:
        """Try to rebalance a group: queue a request for its thread, unless its rebalance bit is set."""
        if group.changed(self._topics):
            self.queues[queue_of(group.name, len(self.queues))].append(group.name)

    def _work(self, now: int) -> None:
        """Let each idle thread take the next request of its queue."""
        for number, queue in enumerate(self.queues):
            while True:
                name = self._working[number]
                if name is not None:
                    group = self.groups[name]
                    if group.active:
                        break
                    self._working[number] = None
                    self._try(group)  # changes during the rebalance
                if not queue:
                    break
                group = self.groups[queue.popleft()]
                if group.state == QUEUED:
                    self._working[number] = group.name
                    self._out += group.taken(now)
