"""The client: one socket a broker, blocking; it finds leaders and finds them again.

Requests to several brokers are sent to all of them before the first answer is read, so a long poll
takes as long as the longest and not as long as all together. No handshake, no version exchange.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Self, TypeVar

from barnabas.captures.host_port import possible
from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.designs.leaders import (
    LEADER_NOT_AVAILABLE,
    STALE,
    UNKNOWN_TOPIC_OR_PARTITION,
    Address,
    Cluster,
    Place,
    by_leader,
    cluster,
    metadata,
)
from barnabas.designs.protocol_guide.client_0_8 import requests
from barnabas.designs.protocol_guide.client_0_8.message_sets import Message
from barnabas.designs.protocol_guide.client_0_8.requests import Fetched, Offsets, Produced
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.trouble import reason_of

PAUSE: Final = 0.1
"""Seconds between two questions for a leader."""

_CHUNK: Final = 1 << 16

Given = TypeVar("Given")
Found = TypeVar("Found", Produced, Fetched, Offsets)


@dataclass(frozen=True, slots=True)
class _Kind(Generic[Given, Found]):
    """One of the three APIs that leaders are asked: how its request is made and its answer read."""

    key: int
    body: Callable[[Mapping[Place, Given]], Mapping[str, Any]]
    read: Callable[[dict[str, Any], Mapping[Place, Given]], dict[Place, Found]]
    failed: Callable[[int], Found]
    """The result where nobody was asked, with an error of Metadata."""
    answered: bool = True


class Unreachable(ConnectionError):
    """None of the brokers answers."""


class Connection:
    """One socket to one broker. Raises OSError when it can't be had, and wherever it is lost."""

    def __init__(self, address: Address, client_id: str, timeout: float) -> None:
        self._socket = socket.create_connection(possible(address), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._dialogue = Dialogue(client_id)

    def send(
        self, key: int, body: Mapping[str, Any], version: int = 0, *, answered: bool = True
    ) -> None:
        """Send a request. Raises barnabas.specs.codec.Unfit before anything is sent."""
        self._socket.sendall(self._dialogue.ask(key, version, body, answered=answered))

    def receive(self) -> dict[str, Any]:
        """The body of the next answer. Raises ProtocolError, or TimeoutError."""
        while True:
            for answer in self._dialogue.answers():
                return answer.body
            data = self._socket.recv(_CHUNK)
            if not data:
                raise ConnectionResetError("the broker closed the connection")
            self._dialogue.feed(data)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class Client:
    """Produces and fetches. bootstrap: where to ask for metadata first.

    timeout: seconds that a socket may be silent (a hard limit, unlike those inside requests).
    patience: seconds in which what fails because of stale metadata, or with the connection, is tried
    again; with 0 each error is given as it came. A request that was lost with its connection may have
    been written all the same: trying again may write it twice, as in 0.8.
    """

    def __init__(
        self,
        bootstrap: Iterable[Address],
        *,
        client_id: str = "barnabas-0.8",
        timeout: float = 10.0,
        patience: float = 10.0,
    ) -> None:
        self.cluster = Cluster({}, {}, {}, {})
        """What the last Metadata response said."""
        self._bootstrap = list(bootstrap)
        self._client_id = client_id
        self._timeout = timeout
        self.patience = patience
        self._connections: dict[Address, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        while self._connections:
            self._connections.popitem()[1].close()

    def refresh(self, topics: Iterable[str] = ()) -> Cluster:
        """Ask any broker for metadata. Raises Unreachable."""
        self.cluster = cluster(self.ask_any(METADATA, metadata(topics)))
        return self.cluster

    def ask_any(self, key: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the first broker that answers anything in v0. Raises Unreachable."""
        problems = []
        for address in dict.fromkeys((*self.cluster.brokers.values(), *self._bootstrap)):
            try:
                return self.ask(address, key, body)
            except OSError as problem:
                problems.append(f"{address[0]}:{address[1]}: {reason_of(problem)}")
        raise Unreachable("; ".join(problems) or "no address to ask")

    def ask(
        self, address: Address, key: int, body: Mapping[str, Any], version: int = 0
    ) -> dict[str, Any]:
        """Ask one broker anything, whoever leads. Raises OSError, and closes the connection then."""
        with self._losing(address):
            connection = self._connection(address)
            connection.send(key, body, version)
            return connection.receive()

    def produce(
        self,
        sets: Mapping[Place, Sequence[Message]],
        *,
        acks: int = 1,
        timeout_ms: int = 5000,
        compression: str = "none",
    ) -> dict[Place, Produced]:
        """Append messages. With acks=0 nobody answers: the result is empty, and errors are not seen.

        acks: -1 waits for all replicas in sync, 1 for the leader, n > 1 for as many (brokers since
        0.9 refuse that, error 21); timeout_ms: how long the broker may wait for them.
        """

        kind: _Kind[Sequence[Message], Produced] = _Kind(
            PRODUCE,
            lambda part: requests.produce(part, acks, timeout_ms, compression),
            lambda body, _: requests.produced(body),
            lambda error: Produced(error, -1),
            answered=acks != 0,
        )
        return self._at_leaders(kind, sets)

    def fetch(
        self,
        positions: Mapping[Place, int],
        *,
        max_wait_ms: int = 500,
        min_bytes: int = 1,
        max_bytes: int = 1 << 20,
    ) -> dict[Place, Fetched]:
        """Read from offsets. Each broker answers when it has min_bytes, or when max_wait_ms are over."""

        kind: _Kind[int, Fetched] = _Kind(
            FETCH,
            lambda part: requests.fetch(
                part, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes
            ),
            requests.fetched,
            lambda error: Fetched(error, -1, (), too_small=False),
        )
        return self._at_leaders(kind, positions)

    def offsets(self, times: Mapping[Place, int], *, count: int = 1) -> dict[Place, Offsets]:
        """Offsets of the segments before a time in ms, LATEST or EARLIEST; so many at most."""

        kind: _Kind[int, Offsets] = _Kind(
            LIST_OFFSETS,
            lambda part: requests.offsets(part, count),
            lambda body, _: requests.offsets_found(body),
            lambda error: Offsets(error, ()),
        )
        return self._at_leaders(kind, times)

    def _at_leaders(
        self, kind: _Kind[Given, Found], wanted: Mapping[Place, Given]
    ) -> dict[Place, Found]:
        """Ask the leader of each place; what has another leader than it seemed, again until it is late.

        Raises Unreachable if at the end a connection is what failed.
        """
        until = time.monotonic() + self.patience
        found: dict[Place, Found] = {}
        left = dict(wanted)
        if any(place not in self.cluster.leaders for place in left):
            self.refresh({topic for topic, _ in left})
        while True:
            lost = self._round(kind, left, found)
            left = {
                place: what
                for place, what in left.items()
                if place in lost or (place in found and found[place].error in STALE)
            }
            if not left or time.monotonic() >= until:
                break
            time.sleep(PAUSE)
            with contextlib.suppress(Unreachable):  # all may be away for a moment
                self.refresh({topic for topic, _ in left})
        if lost:
            raise Unreachable("; ".join(sorted(set(map(reason_of, lost.values())))))
        return found

    def _round(
        self,
        kind: _Kind[Given, Found],
        wanted: Mapping[Place, Given],
        found: dict[Place, Found],
    ) -> dict[Place, OSError]:
        """Ask everybody, then hear everybody; gives what was lost with its connection."""
        led, leaderless = by_leader(wanted, self.cluster.leaders)
        for place in leaderless:
            found[place] = kind.failed(self._why(place))
        asked: list[tuple[Address, dict[Place, Given]]] = []
        lost: dict[Place, OSError] = {}
        for node, places in led.items():
            address = self.cluster.brokers[node]
            part = {place: wanted[place] for place in places}
            try:
                with self._losing(address):
                    connection = self._connection(address)
                    connection.send(kind.key, kind.body(part), answered=kind.answered)
            except OSError as problem:
                lost.update(dict.fromkeys(part, problem))
            else:
                asked.append((address, part))
        for address, part in asked if kind.answered else ():
            try:
                with self._losing(address):
                    answers = kind.read(self._connections[address].receive(), part)
                    if answers.keys() != part.keys():
                        raise ProtocolError(
                            "the broker answers for other partitions than were asked"
                        )
                    found |= answers
            except OSError as problem:
                lost.update(dict.fromkeys(part, problem))
        return lost

    def _why(self, place: Place) -> int:
        """Why nobody leads a partition, as Metadata has it."""
        errors = self.cluster.errors
        known = place[0] in self.cluster.partitions
        otherwise = UNKNOWN_TOPIC_OR_PARTITION if known else LEADER_NOT_AVAILABLE
        return errors.get(place, errors.get(place[0], otherwise))

    def _connection(self, address: Address) -> Connection:
        found = self._connections.get(address)
        if found is None:
            found = Connection(address, self._client_id, self._timeout)
            self._connections[address] = found
        return found

    @contextlib.contextmanager
    def _losing(self, address: Address) -> Iterator[None]:
        """A connection on which something fails is closed: nothing behind that can be paired."""
        try:
            yield
        except Malformed as problem:
            self._drop(address)
            raise ProtocolError(str(problem)) from None
        except BaseException:
            self._drop(address)
            raise

    def _drop(self, address: Address) -> None:
        found = self._connections.pop(address, None)
        if found is not None:
            found.close()
