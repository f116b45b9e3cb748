"""A broker of this protocol without sockets: connections, the groups that it coordinates, Metadata.

    broker.receive(connection, data, now) -> actions
    broker.closed(connection, now)        -> actions
    broker.tick(now)                      -> actions     (at `broker.wake`)
    broker.elected(slot), .loaded(slot, entries, now), .resigned(slot, now), .written(group, now)

A broker processes one request of a connection at a time: requests after a waiting JoinGroup wait, too. Bytes
that are no request of this protocol close the connection.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from barnabas.designs.brokers.listener import Address, Close, Log, Send
from barnabas.designs.brokers.logs.metadata import metadata
from barnabas.designs.brokers.registry.interface import ABSENT, Entry
from barnabas.designs.consumer_rewrite import states
from barnabas.designs.consumer_rewrite.peers.actions import BrokerAction, Load, Write
from barnabas.designs.consumer_rewrite.peers.answers import Answer, Body, RequestId, named, refusal
from barnabas.designs.consumer_rewrite.peers.group import Action, Group
from barnabas.designs.consumer_rewrite.peers.group_entry import GroupEntry, decode
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from barnabas.designs.consumer_rewrite.peers.wire import read_request, response
from barnabas.designs.framing import Frames, FramingError
from barnabas.specs.malformed import Malformed


def slot_of(group: str, slots: int) -> int:
    """Return the partition of the offsets topic whose leader coordinates a group.

    >>> slot_of("g", 8)
    6
    """
    return zlib.crc32(group.encode()) % slots


@dataclass
class _Connection:
    frames: Frames
    host: str
    queue: deque[bytes] = field(default_factory=deque)
    queued: int = 0
    """Bytes in the queue."""
    waits: RequestId | None = None
    """The request that waits for its response."""


class Broker:
    """A broker. new_id: makes the second part of a consumer id; all times are ms."""

    def __init__(self, node: int, settings: BrokerSettings, *, new_id: Callable[[], str]) -> None:
        self.node = node
        self.settings = settings
        self.groups: dict[str, Group] = {}
        self._new_id = new_id
        self._slots: dict[int, str] = {}
        """Slots that this broker leads, in CATCH_UP or READY."""
        self._unread: set[str] = set()
        """Groups with invalid entries: they stay in CATCH_UP."""
        self._nodes: dict[int, Address] = {}
        self._leaders: dict[int, int] = {}
        self._topics: dict[str, int] = {}
        self._connections: dict[int, _Connection] = {}
        self._out: list[BrokerAction] = []
        self._ready: deque[int] = deque()
        """Connections whose next request may be processed."""

    @property
    def wake(self) -> int | None:
        """Return the time of the next `tick` in ms; None: not needed."""
        times = (group.wake for group in self.groups.values())
        return min((time for time in times if time is not None), default=None)

    @property
    def slots(self) -> tuple[int, ...]:
        """Return the slots that this broker leads, as far as it knows."""
        return tuple(self._slots)

    def state(self, group: str) -> str:
        """Return the state of a group at this broker, of `REWRITE_COORDINATOR`."""
        slot = self._slot_of(group)
        return self.groups[group].state if slot == states.READY and group in self.groups else slot

    def _slot_of(self, group: str) -> str:
        """Return the state of a group's slot, as the group sees it."""
        state = self._slots.get(slot_of(group, self.settings.slots), states.DOWN)
        return states.CATCH_UP if group in self._unread and state == states.READY else state

    def cluster(self, nodes: Mapping[int, Address], leaders: Mapping[int, int]) -> None:
        """Set the live brokers with their addresses, and the leader of each slot."""
        self._nodes, self._leaders = dict(nodes), dict(leaders)

    def topics(self, topics: Mapping[str, int], now: int) -> list[BrokerAction]:
        """Set all topics with their numbers of partitions."""
        self._topics = dict(topics)
        for group in tuple(self.groups.values()):
            self._do(group.partitions(self._topics, now), now)
        return self._settle(now)

    def elected(self, slot: int) -> list[BrokerAction]:
        """Begin to lead a slot, whose groups are to be loaded."""
        self._slots[slot] = states.REWRITE_COORDINATOR.advance(
            self._slots.get(slot, states.DOWN), states.ELECTED
        )
        return [Load(slot)]

    def loaded(self, slot: int, entries: Mapping[str, Entry], now: int) -> list[BrokerAction]:
        """Take over the groups of a slot from their entries, which this broker has claimed.

        An invalid entry costs its group: it is reported, and the entry stays unchanged.
        """
        if self._slots.get(slot) != states.CATCH_UP:
            return []
        self._slots[slot] = states.REWRITE_COORDINATOR.advance(states.CATCH_UP, states.LOADED)
        for name, entry in entries.items():
            try:
                record = decode(entry.data)
            except ValueError as problem:
                self._unread.add(name)
                self._out.append(Log("ERROR", f"{name}: {problem}"))
                continue
            self.groups[name] = self._group(name, record, entry.version, now)
            self._do(self.groups[name].partitions(self._topics, now), now)
        return self._settle(now)

    def resigned(self, slot: int, now: int) -> list[BrokerAction]:
        """Stop leading a slot."""
        if slot not in self._slots:
            return []
        states.REWRITE_COORDINATOR.advance(self._slots.pop(slot), states.RESIGNED)
        self._unread = {
            group for group in self._unread if slot_of(group, self.settings.slots) != slot
        }
        for name in [group for group in self.groups if slot_of(group, self.settings.slots) == slot]:
            self._do(self.groups.pop(name).resigned(), now)
        return self._settle(now)

    def written(self, group: str, now: int) -> list[BrokerAction]:
        """Continue after a `Write` of this group."""
        if group in self.groups:
            self._do(self.groups[group].written(now), now)
        return self._settle(now)

    def waits(self, connection: int) -> bool:
        """Return whether a request of a connection waits for its response."""
        at = self._connections.get(connection)
        return at is not None and at.waits is not None

    def connected(self, connection: int, host: str = "") -> None:
        """Note a new connection from a host, whose number is unique."""
        self._connections[connection] = _Connection(Frames(self.settings.frame_limit), host)

    def receive(self, connection: int, data: bytes, now: int) -> list[BrokerAction]:
        """Handle bytes of a connection."""
        at = self._connections.get(connection)
        if at is None:
            return []
        try:
            frames = at.frames.take(data)
        except FramingError as problem:
            return self._close(connection, str(problem), now)
        at.queue.extend(frames)
        at.queued += sum(map(len, frames))
        self._ready.append(connection)
        out = self._settle(now)
        if at.waits and at.queued > self.settings.waiting_limit:
            out += self._close(connection, f"{at.queued} bytes behind a request that waits", now)
        return out

    def closed(self, connection: int, now: int) -> list[BrokerAction]:
        """Handle a connection that the client has closed, or that broke."""
        self._forget(connection, now)
        return self._settle(now)

    def tick(self, now: int) -> list[BrokerAction]:
        """Perform what is due."""
        for group in tuple(self.groups.values()):
            self._do(group.tick(now), now)
        return self._settle(now)

    def _settle(self, now: int) -> list[BrokerAction]:
        """Process connections' requests, each up to one that waits."""
        while self._ready:
            connection = self._ready.popleft()
            while self._turn(connection, now):
                pass
        out, self._out = self._out, []
        return out

    def _close(self, connection: int, reason: str, now: int) -> list[BrokerAction]:
        self._out.append(Close(connection, reason))
        self._forget(connection, now)
        return self._settle(now)

    def _forget(self, connection: int, now: int) -> None:
        if self._connections.pop(connection, None) is None:
            return
        for group in tuple(self.groups.values()):
            group.lost(connection, now)

    def _group(self, name: str, record: GroupEntry, version: int, now: int) -> Group:
        return Group(
            name,
            record,
            version,
            settings=self.settings,
            new_id=self._new_id,
            partitions=self._topics,
            now=now,
        )

    def _turn(self, connection: int, now: int) -> bool:
        """Process the next request of a connection; return whether there was one."""
        at = self._connections.get(connection)
        if at is None or not at.queue or at.waits is not None:
            return False
        frame = at.queue.popleft()
        at.queued -= len(frame)
        try:
            correlation_id, api, body = read_request(frame)
        except Malformed as problem:
            self._out.append(Close(connection, f"no request: {problem}"))
            self._forget(connection, now)
            return False
        at.waits = RequestId(connection, correlation_id, at.host)
        self._do(self._handle_request(at.waits, api, body, now), now)
        return True

    def _handle_request(self, request: RequestId, api: str, body: Body, now: int) -> list[Action]:
        if api == "Metadata":
            brokers = self.settings.brokers or len(self._nodes)
            response = metadata(body, self._topics, self._nodes, brokers)
            return [Answer(request, api, response)]
        name = body["group_id"]
        slot = slot_of(name, self.settings.slots)
        if api == "ConsumerMetadata":
            return [Answer(request, api, named(self._leaders.get(slot), self._nodes))]
        state = self._slot_of(name)
        if state != states.READY:
            error = states.NOT_COORDINATOR
            if state == states.CATCH_UP:
                error = states.ILLEGAL_STATE if api == "JoinGroup" else states.NOT_COMPLETE
            assert states.REWRITE_COORDINATOR.step(state, api, error) == state  # noqa: S101 - the table
            return [Answer(request, api, refusal(api, error, body))]
        group = self.groups.get(name)
        if group is None:
            group = self._group(name, GroupEntry(), ABSENT, now)
        actions = group.handle(request, api, body, now)
        if not group.blank:
            self.groups[name] = group
        return actions

    def _do(self, actions: Iterable[Action], now: int) -> None:
        """Queue a group's actions; a connection with a response may continue with its next request."""
        for action in actions:
            if isinstance(action, Write | Log):
                self._out.append(action)
            elif isinstance(action, Close):
                if action.connection in self._connections:
                    self._out.append(action)
                    self._forget(action.connection, now)
            else:
                at = self._connections.get(action.request_id.connection)
                if at is None or at.waits != action.request_id:
                    continue
                data = response(action.api, action.request_id.correlation_id, action.body)
                self._out.append(Send(action.request_id.connection, data))
                at.waits = None
                self._ready.append(action.request_id.connection)
