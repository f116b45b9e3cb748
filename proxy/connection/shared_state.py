"""What the connections of a proxy share."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from barnabas.captures.kafka.expression import Unclear
from barnabas.captures.values.value import Values
from barnabas.proxy.connection.ordinals import Ordinals, short_client_id
from barnabas.proxy.connection.send_queue import Held
from barnabas.proxy.connection.windows import Windows
from barnabas.proxy.effects import Partition
from barnabas.proxy.matching.message import Message, Unnamed
from barnabas.proxy.topic_names.names import TopicNames
from barnabas.proxy.topic_names.questions import Questions
from barnabas.specs.frames import Direction

Ordinal = Callable[[str | bytes | None, int | None], int]
"""See `Ordinals`."""


class SharedState:
    """Frames that wait for messages of other connections, partitions, the names of topics, and how many
    connections each client made to a broker. Connections are known here by their numbers."""

    def __init__(
        self,
        topics: TopicNames | None = None,
        ordinal: Ordinal | None = None,
        reading: Values | None = None,
    ) -> None:
        self._waiting: list[tuple[int, Held]] = []
        self._ordinal = ordinal or Ordinals()
        self._open: set[int] = set()
        self.partitions: list[tuple[int, Partition]] = []
        """What is isolated, and until when (ns)."""
        self.ready: set[int] = set()
        """Connections with frames that have become due: `tick` them."""
        self.windows = Windows(self.ready)
        """Frames that are gathered over several connections."""
        self.topics = TopicNames() if topics is None else topics
        """Names of topics by id, of all that has passed."""
        self.reading = reading or Values()
        """How rules read keys and values of records."""
        self.questions = Questions()
        """Which of them rules lack."""

    def ordinal(self, client_id: str | None, broker: int | None) -> int:
        """The number of a new connection among that client's to that broker, from 0."""
        return self._ordinal(short_client_id(client_id), broker)

    def add(self, connection: int) -> None:
        """A connection begins, or goes on under other rules."""
        self._open.add(connection)

    def wait(self, connection: int, held: Held) -> None:
        """A frame stands aside until some message passes."""
        self._waiting.append((connection, held))

    def passed(self, message: Message) -> None:
        """A message has left: frames that waited for it are due, their connections `ready`."""
        still = []
        for connection, held in self._waiting:
            if held.due or held.over:
                continue
            if not self._meets(held, message):
                still.append((connection, held))
                continue
            held.remaining = max(held.remaining - 1, 0)
            if held.remaining:
                still.append((connection, held))
            else:
                held.due = True
                self.ready.add(connection)
        self._waiting = still

    def _meets(self, held: Held, message: Message) -> bool:
        """What can't be told is not what it waits for."""
        try:
            return _awaits(held, message)
        except Unclear as unclear:
            if isinstance(unclear, Unnamed):
                self.questions.want(unclear.ids, message.arrived)
            return False

    def isolate(self, partition: Partition, now: int) -> None:
        """No byte passes between some clients and brokers for a time."""
        self.partitions.append((now + partition.ns, partition))
        self.ready |= self._open

    def isolated(self, client_id: str | None, broker: int | None, now: int) -> dict[Direction, int]:
        """Until when no byte may pass between these, for each direction in which none may."""
        if not self.partitions:
            return {}
        self.partitions = [(until, other) for until, other in self.partitions if until > now]
        found: dict[Direction, int] = {}
        for until, partition in self.partitions:
            if _between(partition, client_id, broker):
                for way in partition.ways:
                    found[way] = max(found.get(way, 0), until)
        return found

    def remove(self, connection: int) -> None:
        """A connection is over."""
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


def _awaits(held: Held, message: Message) -> bool:
    """Whether a message is what a frame waits for, and passes where it waits for it."""
    own = held.frame.message
    assert own is not None  # noqa: S101
    if message is own or held.aside.until is None or not held.aside.until.matches(message):
        return False
    match held.aside.same:
        case "connection":
            return message.connection == own.connection
        case "client":
            return message.client_id == own.client_id
        case "group":
            return own.group is not None and message.group == own.group
        case _:
            return True
