"""The state that the connections of a proxy share."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from barnabas.captures.kafka.context.sessions import Sessions
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.expression import Unclear
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.captures.values.value import Values
from barnabas.proxy.connection.ordinals import Ordinals, short_client_id
from barnabas.proxy.connection.send_queue import HeldFrame
from barnabas.proxy.connection.windows import Windows
from barnabas.proxy.edits.share_releases import ShareReleases
from barnabas.proxy.effects import Partition
from barnabas.proxy.matching.message import Message, Unnamed
from barnabas.proxy.topic_names.names import TopicNames
from barnabas.proxy.topic_names.unresolved import UnresolvedTopics
from barnabas.specs.frames import Direction

Ordinal = Callable[[str | bytes | None, int | None], int]
"""Returns the ordinal of a new connection, see `Ordinals`."""


class SharedState:
    """The state that all connections of a proxy share; a connection is known by its number.

    It has the frames that wait for messages of other connections, the partitions between clients and brokers,
    the names of topics, the sessions of consumers, and the number of connections that each client made to a
    broker.
    """

    def __init__(
        self,
        topics: TopicNames | None = None,
        ordinal: Ordinal | None = None,
        reading: Values | None = None,
    ) -> None:
        self._waiting: list[tuple[int, HeldFrame]] = []
        self._ordinal = ordinal or Ordinals()
        self._open: set[int] = set()
        self.partitions: list[tuple[int, Partition]] = []
        """The partitions in force, each with its end in ns."""
        self.ready: set[int] = set()
        """The numbers of connections with frames that have become due: call `tick` of each."""
        self.windows = Windows(self.ready)
        """The windows of `reorder`."""
        self.topics = TopicNames() if topics is None else topics
        """The names of topics by id, from all responses so far."""
        self.reading = reading or Values()
        """How rules decode keys and values of records."""
        self.sessions = Sessions()
        """The fetch and share sessions, as far as rules need them."""
        self.releases = ShareReleases()
        """The records of share groups that rules have withheld."""
        self.unresolved = UnresolvedTopics()
        """The topic ids whose names rules lack."""

    def learn_session(self, pending: Pending, broker: int | None, response: bytes | None) -> None:
        """Learn from a request and its response which partitions a session has."""
        exchange = Exchange(
            pending.arrived,
            0,
            "",
            pending.client_id,
            broker,
            pending.key,
            pending.version,
            pending.correlation_id,
            pending.size,
            request_body=pending.body,
            response_body=response,
        )
        self.sessions.learn(exchange)

    def ordinal(self, client_id: str | None, broker: int | None) -> int:
        """Return the ordinal of a new connection among that client's to that broker, from 0."""
        return self._ordinal(short_client_id(client_id), broker)

    def add(self, connection: int) -> None:
        """Register a connection that begins, or continues under other rules."""
        self._open.add(connection)

    def wait(self, connection: int, held: HeldFrame) -> None:
        """Register a frame that waits aside for a message on any connection."""
        self._waiting.append((connection, held))

    def passed(self, message: Message) -> None:
        """Make frames due that waited for a message that has left, and mark their connections as `ready`."""
        still = []
        for connection, held in self._waiting:
            if held.due or held.over:
                continue
            if not self._is_awaited(held, message):
                still.append((connection, held))
                continue
            held.remaining = max(held.remaining - 1, 0)
            if held.remaining:
                still.append((connection, held))
            else:
                held.due = True
                self.ready.add(connection)
        self._waiting = still

    def _is_awaited(self, held: HeldFrame, message: Message) -> bool:
        """Return whether a frame waits for this message; False if that is undecided."""
        try:
            return _awaits(held, message)
        except Unclear as unclear:
            if isinstance(unclear, Unnamed):
                self.unresolved.want(unclear.ids, message.arrived)
            return False

    def isolate(self, partition: Partition, now: int) -> None:
        """Start a partition: no byte passes between some clients and brokers for a time."""
        self.partitions.append((now + partition.ns, partition))
        self.ready |= self._open

    def isolated(self, client_id: str | None, broker: int | None, now: int) -> dict[Direction, int]:
        """Return the directions in which no byte may pass between a client and a broker.

        Each has the time in ns at which its partition ends.
        """
        if not self.partitions:
            return {}
        self.partitions = [(until, other) for until, other in self.partitions if until > now]
        isolated_until: dict[Direction, int] = {}
        for until, partition in self.partitions:
            if _between(partition, client_id, broker):
                for direction in partition.ways:
                    isolated_until[direction] = max(isolated_until.get(direction, 0), until)
        return isolated_until

    def remove(self, connection: int) -> None:
        """Forget a closed connection."""
        self._waiting = [entry for entry in self._waiting if entry[0] != connection]
        self.ready.discard(connection)
        self._open.discard(connection)
        self.windows.forget()


def _between(partition: Partition, client_id: str | None, broker: int | None) -> bool:
    if partition.brokers is not None and broker not in partition.brokers:
        return False
    if partition.clients is None:
        return True
    return any(fnmatchcase(client_id or "", glob) for glob in partition.clients)


def _awaits(held: HeldFrame, message: Message) -> bool:
    """Return whether a message is the one that a frame waits for, where it must pass."""
    awaiting = held.frame.message
    assert awaiting is not None  # noqa: S101
    if message is awaiting or held.aside.until is None or not held.aside.until.matches(message):
        return False
    match held.aside.same:
        case "connection":
            return message.connection == awaiting.connection
        case "client":
            return message.client_id == awaiting.client_id
        case "group":
            return awaiting.group is not None and message.group == awaiting.group
        case _:
            return True
