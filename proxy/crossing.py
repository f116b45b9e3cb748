"""What connections know of each other: which frames wait for a message somewhere else."""

from __future__ import annotations

import uuid
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from captures.context.memory import Memory
from captures.context.pairs import TOPIC, pairs_in
from proxy.effects import Partition
from proxy.message import Message
from proxy.outlet import Held
from proxy.windows import Windows
from specs.frames import Direction
from specs.keys import METADATA

if TYPE_CHECKING:
    from proxy.state import State


class Crossing:
    """Holds of all connections of a proxy, how many connections each client made to a broker, and the
    names of topics."""

    def __init__(self) -> None:
        self._waiting: list[tuple[State, Held]] = []
        self._ordinals: dict[tuple[Any, ...], int] = {}
        self.lines: dict[str, int] = {}
        """Lines of limited rate that connections share: name -> until when each is busy (ns)."""
        self.states: set[State] = set()
        """All connections."""
        self.partitions: list[tuple[int, Partition]] = []
        """What is isolated, and until when (ns)."""
        self.ready: set[State] = set()
        """Connections with frames that have become due: `tick` them."""
        self.windows = Windows(self.ready)
        """Frames that are gathered over several connections."""
        self.topics: Memory[uuid.UUID, str] = Memory()
        """Names of topics by id, of the Metadata that has passed since some rule looks into bodies."""

    def learn(self, version: int, body: bytes) -> None:
        """A Metadata response has come."""
        self.topics.update(pairs_in(METADATA, version, "response", body, TOPIC))

    def ordinal(self, client_id: str | None, broker: int | None) -> int:
        """The number of a new connection among that client's to that broker, from 0."""
        number = self._ordinals.get((client_id, broker), 0)
        self._ordinals[client_id, broker] = number + 1
        return number

    def wait(self, connection: State, held: Held) -> None:
        """A frame stands aside until some message passes."""
        self._waiting.append((connection, held))

    def passed(self, message: Message) -> None:
        """A message has left: frames that waited for it are due, their connections `ready`."""
        still = []
        for connection, held in self._waiting:
            if held.due or held.over:
                continue
            if not _meets(held, message):
                still.append((connection, held))
                continue
            held.left = max(held.left - 1, 0)
            if held.left:
                still.append((connection, held))
            else:
                held.due = True
                self.ready.add(connection)
        self._waiting = still

    def isolate(self, partition: Partition, now: int) -> None:
        """No byte passes between some clients and brokers for a time."""
        self.partitions.append((now + partition.ns, partition))
        self.ready |= self.states

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

    def forget(self, connection: State) -> None:
        """A connection is over."""
        self._waiting = [entry for entry in self._waiting if entry[0] is not connection]
        self.ready.discard(connection)
        self.states.discard(connection)
        self.windows.advance()


def _between(partition: Partition, client_id: str | None, broker: int | None) -> bool:
    if partition.brokers is not None and broker not in partition.brokers:
        return False
    if partition.clients is None:
        return True
    return any(fnmatchcase(client_id or "", glob) for glob in partition.clients)


def _meets(held: Held, message: Message) -> bool:
    own = held.item.message
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
