"""Cases in flight over several connections, one case at a time on each.

A connection that survives is used for the next case. A connection whose response does not come within the
timeout is abandoned and replaced: a broker may delay a response as long as it likes. Meanwhile the other
cases go on.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Ending, Observation
from barnabas.fuzz.observations.requests import RequestStream, parse_requests
from barnabas.fuzz.sessions.live_values import filled
from barnabas.fuzz.targets import session_setup
from barnabas.fuzz.targets.case_queue import CaseQueue
from barnabas.fuzz.targets.connections import CaseConnection, Connections, ending_of
from barnabas.fuzz.targets.log_attribution import LogTimeline
from barnabas.fuzz.targets.log_entries import LoggedEntry
from barnabas.peers.replay.authentication import Credentials

CONNECT_S: Final = 3.0
"""Seconds that a connection may take to open while others are busy."""

STEP_S: Final = 10.0
"""Seconds that a valid request of a session may take."""

QUIET_S: Final = 0.02
"""Seconds to wait after a case without a response: a broker closes the connection at once or not at all."""

PARKED_S: Final = 0.05
"""Seconds after which a case makes room for another one, up to all but one: a broker may delay its
response."""

_READ: Final = 1 << 16
_SWEEP_S: Final = 0.01
"""Seconds between two looks for overdue cases."""

Placed = tuple[int, Observation]
"""The index of a case, and its observation."""


class Flow:
    """Cases in flight, sent in about their order; observations are taken in batches.

    log: returns the entries that the broker's log gained since the last call.
    """

    def __init__(
        self,
        connections: Connections,
        cases: Sequence[Case],
        timeout: float,
        credentials: Credentials | None = None,
        log: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._credentials = credentials
        self._following = LogTimeline(log)
        self._connections = connections
        self._cases = cases
        self._timeout = timeout
        self._found: list[Placed] = []
        self.looks: dict[int, int] = {}
        """By the index of a case, the look at all connections at which it was over."""
        self._look = 0
        self._waiting = CaseQueue(cases)
        self._busy: set[CaseConnection] = set()

    @property
    def over(self) -> bool:
        """Return whether all observations were taken."""
        return not (self._waiting or self._busy or self._found)

    def some(self, count: int, over: Callable[[], bool] = lambda: False) -> list[Placed]:
        """Return the observations of the next `count` cases, or of all remaining ones.

        They come in the order of completion, and the other cases go on. Once `over()` returns True, overdue
        cases are no longer waited for.
        """
        try:
            self._pump(count, over)
        except BaseException:
            self._connections.aim(self._connections.address)
            raise
        placed, self._found = self._found, []
        return placed

    @property
    def waited(self) -> float:
        """Return the seconds since the oldest case in flight was sent."""
        now = time.perf_counter()
        return max(
            (now - connection.began for connection in self._busy if connection.steps is None),
            default=0.0,
        )

    def logged(self) -> list[LoggedEntry]:
        """Return the log entries since the last call."""
        return self._following.logged(
            [self._cases[connection.index].number for connection in self._busy]
        )

    def stop(self) -> int:
        """Send no case after the last sent one; return its index."""
        self._waiting.stop()
        return self._waiting.last

    def rest(self) -> list[Placed]:
        """Return the observations of the cases in flight; no others are sent."""
        self._waiting.clear()
        return self.some(len(self._cases))

    def under_way(self, port: int | None, correlation_id: int | None) -> bool:
        """Return whether a case in flight has this client port or, without a port, this correlation id."""
        return any(
            connection.port == port
            if port is not None
            else connection.correlation_id == correlation_id
            for connection in self._busy
        )

    def _pump(self, count: int, over: Callable[[], bool]) -> None:
        connections = self._connections
        swept = time.perf_counter()
        parked = 0
        while len(self._found) < count and (self._waiting or self._busy):
            self._look += 1
            room = connections.most + min(parked, connections.most - 1)
            while self._waiting and len(self._busy) < room and self._dispatch():
                pass
            for connection, readable, writable in connections.ready(_SWEEP_S):
                if writable:
                    self._write(connection)
                if readable and not connection.dropped:
                    self._read(connection)
            now = time.perf_counter()
            if now - swept > _SWEEP_S:
                swept = now
                expired = over()
                for connection in [
                    connection for connection in self._busy if expired or connection.deadline <= now
                ]:
                    self._expired(connection)
                parked = sum(
                    connection.began < now - PARKED_S
                    for connection in self._busy
                    if not connection.steps
                )
            self._following.look()

    def _dispatch(self) -> bool:
        """Send a case on a connection, preferably one in its session; return False if there is no room."""
        connection = self._connections.take_fitting(self._fits)
        if connection is None and not self._connections.may_dial():
            return False
        session = self._waiting.session if connection is None else connection.session
        index = self._waiting.take(session)
        is_new = connection is None
        if connection is None:
            connection = self._connections.dial()
        if connection is None:
            self._found.append((index, Observation(self._cases[index], ending="refused")))
            return True
        connection.index = index
        self._busy.add(connection)
        if is_new and (session or self._credentials is not None):
            self._lead(connection, session)
        else:
            self._send_case(connection)
        return True

    def _fits(self, connection: CaseConnection) -> bool:
        return connection.session in self._waiting and (
            not connection.session or connection.remaining > 0
        )

    # sessions

    def _lead(self, connection: CaseConnection, name: str | None = None) -> None:
        """Take the next step into a session, by name or on a connection that is already in it.

        If the session fails, the case is sent without it.
        """
        counts, answer, data = self._connections.counts, None, None
        try:
            if name is not None:
                session_setup.begin(connection, name, self._connections.offered, self._credentials)
            else:
                answer = session_setup.answered(connection)
            data = session_setup.step(connection, answer, self._connections.correlation_id())
            if data is None and connection.session:
                counts.session(succeeded=True)
        except session_setup.Failed as problem:
            counts.session(succeeded=False)
            connection.steps, connection.values, connection.remaining = None, {}, 0
            connection.session_error = str(problem)
        if data is None:
            self._send_case(connection)
            return
        connection.reader.begin()
        connection.deadline = time.perf_counter() + max(STEP_S, self._timeout)
        self._send(connection, data)

    def _cut_short(self, connection: CaseConnection, reason: str) -> None:
        """End a session before the case was sent."""
        connection.steps, connection.session_error = None, reason
        connection.sent, connection.question = (), None
        connection.began = time.perf_counter()
        self._connections.counts.session(succeeded=False)

    # a case

    def _send_case(self, connection: CaseConnection) -> None:
        case = self._cases[connection.index]
        connection.remaining -= 1
        connection.cases += 1
        connection.correlation_id = self._connections.correlation_id()
        connection.sent = filled(case, connection.values, connection.correlation_id)
        connection.question = parse_requests(connection.sent)
        connection.reader.begin()
        connection.began = time.perf_counter()
        connection.deadline = connection.began + self._timeout
        data = connection.sent[0] if len(connection.sent) == 1 else b"".join(connection.sent)
        if case.delivery == "bytewise":
            try:
                data = connection.write_bytewise(data)
            except OSError as problem:
                self._finish(connection, ending_of(problem))
                return
        self._send(connection, data)

    def _send(self, connection: CaseConnection, data: bytes) -> None:
        try:
            done = not data or connection.write(data)
        except OSError as problem:
            self._ended(connection, ending_of(problem))
            return
        if done:
            self._written(connection)
            return
        if not connection.connected:
            connection.deadline = max(connection.deadline, time.perf_counter() + CONNECT_S)
        self._connections.watch_writable(connection, True)

    def _write(self, connection: CaseConnection) -> None:
        if connection not in self._busy:
            return
        try:
            if not connection.write_more():
                return
        except OSError as problem:
            connection.unwritten = None
            self._ended(connection, ending_of(problem))
            return
        now = time.perf_counter()
        if not connection.connected:
            connection.connected = True
            connection.began = now
        connection.deadline = now + self._timeout
        if connection.unwritten is None:
            self._connections.watch_writable(connection, False)
            self._written(connection)

    def _written(self, connection: CaseConnection) -> None:
        if connection.steps is not None:
            return
        if self._cases[connection.index].delivery == "half_open":
            with contextlib.suppress(OSError):
                connection.socket.shutdown(socket.SHUT_WR)
            return
        stream = connection.question
        if stream is not None and not stream.answers and stream.rest != "nonsense":
            connection.deadline = min(connection.deadline, connection.began + QUIET_S)

    def _read(self, connection: CaseConnection) -> None:
        self._connections.note_accepted(connection)
        try:
            data = connection.socket.recv(_READ)
        except BlockingIOError:
            return
        except OSError as problem:
            self._ended(connection, ending_of(problem))
            return
        if not data:
            self._ended(connection, "closed")
            return
        reader = connection.reader
        reader.receive(data)
        if connection not in self._busy:  # the broker sent bytes without a request
            self._connections.drop(connection)
            self._connections.idle.remove(connection)
        elif connection.steps is not None:
            if reader.replies:
                self._lead(connection)
        elif reader.garbled:
            self._finish(connection, "open", abandoned=True)
        elif connection.question is not None and len(reader.replies) >= connection.question.answers:
            self._answered(connection, connection.question)

    def _answered(self, connection: CaseConnection, stream: RequestStream) -> None:
        """Finish a case whose responses have all come.

        The connection is used again if nothing of the case remains in it.
        """
        half = self._cases[connection.index].delivery == "half_open"
        if stream.rest == "nonsense" or half:
            return  # the broker must close the connection
        spoilt = bool(stream.rest) or connection.reader.midway or stream.untold
        self._finish(connection, "open", abandoned=spoilt, blame=False)

    def _ended(self, connection: CaseConnection, ending: Ending) -> None:
        if connection not in self._busy:
            self._connections.drop(connection)
            self._connections.idle.remove(connection)
            return
        if connection.steps is not None:
            self._cut_short(
                connection, "the connection ended in its session"
            )  # the case was not sent
        self._finish(connection, ending)

    def _expired(self, connection: CaseConnection) -> None:
        if connection.steps is not None:
            self._cut_short(connection, "a valid step of its session was not answered")
        stream = connection.question
        due = (
            stream is None
            or stream.rest == "nonsense"
            or len(connection.reader.replies) < stream.answers
        )
        spoilt = due or (stream is not None and (stream.rest != "" or stream.untold))
        self._finish(connection, "open", abandoned=spoilt, blame=due)

    def _finish(
        self,
        connection: CaseConnection,
        ending: Ending,
        *,
        abandoned: bool = False,
        blame: bool = True,
    ) -> None:
        observation = connection.observation(
            self._cases[connection.index], ending, waited=abandoned and blame
        )
        self._found.append((connection.index, observation))
        self.looks[connection.index] = self._look
        self._following.over(self._cases[connection.index].number)
        self._busy.discard(connection)
        connection.index = -1
        connection.session_error = ""
        if ending != "open" or abandoned or connection.unwritten is not None:
            self._connections.drop(connection)
        else:
            self._connections.idle.append(connection)
