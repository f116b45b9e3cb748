"""A blocking client with one socket per broker, which finds partition leaders and follows their changes.

The client sends its requests to all brokers before it reads the first response, so a long poll takes as
long as the slowest broker. There is no handshake and no version exchange.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Self, TypeVar

from barnabas.captures.host_port import possible
from barnabas.designs import leaders
from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.designs.leaders import STALE, Address, Cluster, TopicPartition
from barnabas.designs.protocol_guide.client_0_8 import requests
from barnabas.designs.protocol_guide.client_0_8.message_sets import Message
from barnabas.designs.protocol_guide.client_0_8.requests import Fetched, Offsets, Produced
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.trouble import reason_of

PAUSE: Final = 0.1
"""Seconds between two requests for a leader."""

_CHUNK: Final = 1 << 16

RequestValue = TypeVar("RequestValue")
ResponseValue = TypeVar("ResponseValue", Produced, Fetched, Offsets)


@dataclass(frozen=True, slots=True)
class _Api(Generic[RequestValue, ResponseValue]):
    """An API of leaders: builds the request's body and reads the response's."""

    key: int
    body: Callable[[Mapping[TopicPartition, RequestValue]], Mapping[str, Any]]
    read: Callable[
        [dict[str, Any], Mapping[TopicPartition, RequestValue]], dict[TopicPartition, ResponseValue]
    ]
    failed: Callable[[int], ResponseValue]
    """Makes the result of a leaderless partition from an error of Metadata."""
    answered: bool = True


class Unreachable(ConnectionError):
    """No broker answers."""


class Connection:
    """A socket to one broker. Raises OSError if it can't be opened, and when it is lost."""

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
        """Return the body of the next response. Raises ProtocolError, or TimeoutError."""
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
    """A producer and consumer that assigns partitions itself. bootstrap: brokers to ask for metadata first.

    timeout: seconds that a socket may be silent (a hard limit, unlike those inside requests).
    patience: seconds in which the client repeats what fails with the connection or by stale metadata.
    With 0 it returns each error at once. A request that was lost with its connection may have been
    written all the same: repeating it may write it twice, as in 0.8.
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
        """The content of the last Metadata response."""
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
        self.cluster = leaders.cluster(self.ask_any(METADATA, leaders.metadata(topics)))
        return self.cluster

    def ask_any(self, key: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask brokers in v0 until one answers. Raises Unreachable."""
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
        """Ask one broker, whoever leads. Raises OSError, and closes the connection then."""
        with self._connected(address) as connection:
            connection.send(key, body, version)
            return connection.receive()

    def produce(
        self,
        sets: Mapping[TopicPartition, Sequence[Message]],
        *,
        acks: int = 1,
        timeout_ms: int = 5000,
        compression: str = "none",
    ) -> dict[TopicPartition, Produced]:
        """Append messages. With acks=0 no broker answers: the result is empty and shows no errors.

        acks: -1 waits for all replicas in sync, 1 for the leader, n > 1 for n replicas (brokers since
        0.9 refuse that, error 21); timeout_ms: how long the broker may wait for them.
        """
        api: _Api[Sequence[Message], Produced] = _Api(
            PRODUCE,
            lambda part: requests.produce(part, acks, timeout_ms, compression),
            lambda body, _: requests.produced(body),
            Produced,
            answered=acks != 0,
        )
        return self._at_leaders(api, sets)

    def fetch(
        self,
        positions: Mapping[TopicPartition, int],
        *,
        max_wait_ms: int = 500,
        min_bytes: int = 1,
        max_bytes: int = 1 << 20,
    ) -> dict[TopicPartition, Fetched]:
        """Read from offsets. Each broker answers when it has min_bytes, or after max_wait_ms."""
        limits = {"max_wait_ms": max_wait_ms, "min_bytes": min_bytes, "max_bytes": max_bytes}
        api: _Api[int, Fetched] = _Api(
            FETCH, lambda part: requests.fetch(part, **limits), requests.fetched, Fetched
        )
        return self._at_leaders(api, positions)

    def offsets(
        self, times: Mapping[TopicPartition, int], *, count: int = 1
    ) -> dict[TopicPartition, Offsets]:
        """Return at most `count` offsets of segments before a time in ms, LATEST or EARLIEST."""
        api: _Api[int, Offsets] = _Api(
            LIST_OFFSETS,
            lambda part: requests.offsets(part, count),
            lambda body, _: requests.offsets_found(body),
            Offsets,
        )
        return self._at_leaders(api, times)

    def _at_leaders(
        self, api: _Api[RequestValue, ResponseValue], values: Mapping[TopicPartition, RequestValue]
    ) -> dict[TopicPartition, ResponseValue]:
        """Ask the leader of each partition, and repeat that while leaders change and patience lasts.

        Raises Unreachable if a connection was lost in the last round.
        """
        until = time.monotonic() + self.patience
        results: dict[TopicPartition, ResponseValue] = {}
        open_values = dict(values)
        if any(partition not in self.cluster.leaders for partition in values):
            self.refresh({topic for topic, _ in values})
        while True:
            lost = self._round(api, open_values, results)
            open_values = {
                partition: value
                for partition, value in open_values.items()
                if partition in lost or (partition in results and results[partition].error in STALE)
            }
            if not open_values or time.monotonic() >= until:
                break
            time.sleep(PAUSE)
            with contextlib.suppress(Unreachable):  # all may be away for a moment
                self.refresh({topic for topic, _ in open_values})
        if lost:
            raise Unreachable("; ".join(sorted(set(map(reason_of, lost.values())))))
        return results

    def _round(
        self,
        api: _Api[RequestValue, ResponseValue],
        values: Mapping[TopicPartition, RequestValue],
        results: dict[TopicPartition, ResponseValue],
    ) -> dict[TopicPartition, OSError]:
        """Send all requests, then read all responses; return the partitions of lost connections."""
        led, leaderless = leaders.by_leader(values, self.cluster.leaders)
        results |= {
            partition: api.failed(self._why_leaderless(partition)) for partition in leaderless
        }
        sent: list[tuple[Address, Connection, dict[TopicPartition, RequestValue]]] = []
        lost: dict[TopicPartition, OSError] = {}
        for node, places in led.items():
            address = self.cluster.brokers[node]
            part = {partition: values[partition] for partition in places}
            try:
                with self._connected(address) as connection:
                    connection.send(api.key, api.body(part), answered=api.answered)
                    sent.append((address, connection, part))
            except OSError as problem:
                lost.update(dict.fromkeys(part, problem))
        for address, connection, part in sent if api.answered else ():
            try:
                with self._connected(address):
                    answers = api.read(connection.receive(), part)
                    if answers.keys() != part.keys():
                        raise ProtocolError(
                            "the broker answers for other partitions than were asked"
                        )
                    results |= answers
            except OSError as problem:
                lost.update(dict.fromkeys(part, problem))
        return lost

    def _why_leaderless(self, partition: TopicPartition) -> int:
        errors = self.cluster.errors
        known = partition[0] in self.cluster.partitions
        default = leaders.UNKNOWN_TOPIC_OR_PARTITION if known else leaders.LEADER_NOT_AVAILABLE
        return errors.get(partition, errors.get(partition[0], default))

    @contextlib.contextmanager
    def _connected(self, address: Address) -> Iterator[Connection]:
        """Lend the connection to a broker. After a failure close it: later responses can't be paired."""
        try:
            if address not in self._connections:
                self._connections[address] = Connection(address, self._client_id, self._timeout)
            yield self._connections[address]
        except BaseException as problem:
            if (connection := self._connections.pop(address, None)) is not None:
                connection.close()
            if isinstance(problem, Malformed):
                raise ProtocolError(str(problem)) from None
            raise
