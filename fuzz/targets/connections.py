"""Connections to one broker: opened, kept for the next case, dropped."""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import REUSED, WAITED, Ending, Observation
from barnabas.fuzz.observations.requests import RequestStream
from barnabas.fuzz.sessions.live_values import Values
from barnabas.fuzz.sessions.session import Request, Steps
from barnabas.fuzz.targets.reply_reader import ReplyReader

BACKLOG: Final = 4
"""Connections at once without any byte received. A listener with a full backlog drops the next one, which the
system retries only after a second; the shortest backlog is librdkafka's, of five."""

BYTEWISE: Final = 128
"""Bytes that are written one by one; the rest follows in one write."""

_STEP: Final = 1 << 20

SETTLED_S: Final = 0.005
"""Seconds after which a connection counts as accepted even if no byte came."""


@dataclass(slots=True)
class SessionCounts:
    """Counts of sessions that failed."""

    failed: int = 0
    failing: int = 0
    """Sessions that failed since the last one that succeeded; 0 if none has succeeded yet."""
    succeeded: bool = False
    """Whether a session has succeeded."""

    def session(self, *, succeeded: bool) -> None:
        """Count a session."""
        self.failed += not succeeded
        self.succeeded |= succeeded
        self.failing = self.failing + 1 if self.succeeded and not succeeded else 0

    def reset_failures(self) -> None:
        """Reset the failures after a restart."""
        self.failing, self.succeeded = 0, False


@dataclass(slots=True, eq=False)
class CaseConnection:
    """A connection, its session, and the case in flight on it."""

    socket: socket.socket
    number: int
    port: int
    opened: float
    reader: ReplyReader = field(default_factory=ReplyReader)
    session: str = ""
    values: Values = field(default_factory=dict)
    remaining: int = 0
    """Cases that the session can still be used for."""
    bare: bool = False
    """Whether the connection carries tokens without headers, in both directions."""
    cases: int = 0
    """Cases that were sent over the connection."""
    correlation_id: int = 0
    steps: Steps | None = None
    request: Request | None = None
    index: int = -1
    """The index of the case in flight; -1 for none."""
    sent: tuple[bytes, ...] = ()
    question: RequestStream | None = None
    began: float = 0.0
    deadline: float = 0.0
    unwritten: memoryview | None = None
    connected: bool = False
    dropped: bool = False
    session_error: str = ""
    """Why the session failed."""

    def write(self, data: bytes) -> bool:
        """Write data without blocking; return whether all of it was written.

        What the socket does not take stays in `unwritten`.

        Raises:
            OSError: The connection has ended.
        """
        try:
            done = self.socket.send(data)
            self.connected = True
        except BlockingIOError:
            done = 0
        if done < len(data):
            self.unwritten = memoryview(data)[done:]
        return done == len(data)

    def write_more(self) -> bool:
        """Write from `unwritten`; return whether the socket took any of it. Raises OSError."""
        assert self.unwritten is not None  # noqa: S101
        try:
            done = self.socket.send(self.unwritten[:_STEP])
        except BlockingIOError:
            return False
        self.unwritten = self.unwritten[done:] if done < len(self.unwritten) else None
        return True

    def write_bytewise(self, data: bytes) -> bytes:
        """Write the first BYTEWISE bytes one by one; return the bytes that are not written yet.

        A socket that is not connected yet takes none. Raises OSError.
        """
        at = 0
        try:
            while at < min(BYTEWISE, len(data)):
                at += self.socket.send(data[at : at + 1])
        except BlockingIOError:
            pass
        return data[at:]

    def observation(self, case: Case, ending: Ending, *, waited: bool) -> Observation:
        """Return the observation of a case that is over.

        waited: its response did not come within the timeout.
        """
        took = (time.perf_counter() - self.began) * 1000
        facts: tuple[tuple[str, object], ...] = (("port", self.port),)
        if self.session_error:
            facts += (("session_failed", self.session_error),)
        if self.reader.garbled:
            facts += (("garbled", True),)
        if waited:
            facts += ((WAITED, round(took)),)
        if self.cases > 1:
            facts += ((REUSED, True),)
        replies = tuple(self.reader.replies)
        if self.bare and replies:  # bare tokens are no responses
            facts += (("tokens", [reply.hex() for reply in replies]),)
            replies = ()
        return Observation(case, self.sent, replies, ending, took, facts=facts)


def ending_of(error: OSError) -> Ending:
    """Return the ending of a connection on which a socket call failed."""
    return "refused" if isinstance(error, ConnectionRefusedError) else "reset"


class Connections:
    """Connections to one address; `most` is their maximal number."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts = SessionCounts()
        self.offered: dict[int, tuple[int, int]] = {}
        """API key -> oldest and newest version that the broker offers; empty: unknown."""
        self.idle: list[CaseConnection] = []
        """Open connections without a case."""
        self.address: tuple[str, int] = ("", 0)
        self._place: Any = None
        self._selector = selectors.DefaultSelector()
        self._silent: dict[CaseConnection, None] = {}
        """Connections without any byte received, oldest first."""
        self._number = 0
        self._correlation_id = 0

    def offers(self, key: int, version: int) -> bool:
        """Return whether the broker offers a version of an API, or its versions are unknown."""
        low, high = self.offered.get(key, (0, -1))
        return not self.offered or low <= version <= high

    def aim(self, address: tuple[str, int]) -> None:
        """Close all connections and set the address of new ones."""
        self.close()
        self._selector = selectors.DefaultSelector()
        self.address = address
        self._place = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]

    def close(self) -> None:
        """Close all connections."""
        for key in list(self._selector.get_map().values()):
            key.data.socket.close()
        self._selector.close()
        self.idle = []
        self._silent = {}

    def correlation_id(self) -> int:
        """Return a correlation id that is new on all connections.

        A log may name nothing else of a request.
        """
        self._correlation_id = (self._correlation_id + 1) % (1 << 31)
        return self._correlation_id

    def take_fitting(self, fits: Callable[[CaseConnection], bool]) -> CaseConnection | None:
        """Return an idle connection that fits; close those that do not."""
        while self.idle:
            connection = self.idle.pop()
            if fits(connection):
                return connection
            self.drop(connection)
        return None

    def may_dial(self) -> bool:
        """Return whether the listener has room for another connection."""
        if len(self._silent) >= BACKLOG:
            settled = time.perf_counter() - SETTLED_S
            for connection in [
                connection for connection in self._silent if connection.opened < settled
            ]:
                del self._silent[connection]
        return len(self._silent) < BACKLOG

    def dial(self) -> CaseConnection | None:
        """Open a connection without waiting for it; None if the address refuses it."""
        family, kind, protocol, _, address = self._place
        connected = socket.socket(family, kind, protocol)
        connected.setblocking(False)
        if connected.connect_ex(address) not in (0, errno.EINPROGRESS):
            connected.close()
            return None
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._number += 1
        port = connected.getsockname()[1]
        connection = CaseConnection(connected, self._number, port, time.perf_counter())
        self._silent[connection] = None
        self._selector.register(connected, selectors.EVENT_READ, connection)
        return connection

    def note_accepted(self, connection: CaseConnection) -> None:
        """Note that bytes or an end came on a connection: it was accepted."""
        self._silent.pop(connection, None)

    def drop(self, connection: CaseConnection) -> None:
        """Close a connection."""
        connection.dropped = True
        self._silent.pop(connection, None)
        self._selector.unregister(connection.socket)
        connection.socket.close()

    def watch_writable(self, connection: CaseConnection, wait_for_room: bool) -> None:
        """Set whether `ready` also reports when a connection has room for writes."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wait_for_room else 0)
        self._selector.modify(connection.socket, events, connection)

    def ready(self, seconds: float) -> list[tuple[CaseConnection, bool, bool]]:
        """Wait for connections that can be read or written.

        Returns:
            (connection, readable, writable) for each; empty after `seconds`.
        """
        return [
            (key.data, bool(mask & selectors.EVENT_READ), bool(mask & selectors.EVENT_WRITE))
            for key, mask in self._selector.select(seconds)
        ]
