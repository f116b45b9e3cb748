"""Connections to one broker: opened, kept for what comes next, dropped. No more is known of cases here than
what a connection is about."""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.fuzz.observations.requests import Question
from barnabas.fuzz.sessions.live import Values
from barnabas.fuzz.sessions.session import Ask, Steps
from barnabas.fuzz.targets.reply_reader import ReplyReader

BACKLOG: Final = 4
"""Connections at once that nothing was heard on yet. A listener with a full backlog drops the next one, which
the system tries again after a second only; the shortest backlog that we meet is librdkafka's, of five."""

SETTLED_S: Final = 0.005
"""Seconds after which a connection was taken, whether it said something or not."""


@dataclass(slots=True)
class Counts:
    """What became of the connections."""

    opened: int = 0
    abandoned: int = 0
    sessions: int = 0
    sessions_failed: int = 0
    failing: int = 0
    """Sessions that failed since the last that was had from a process; 0 where none was had yet."""
    had: bool = False
    """Whether one was."""

    def session(self, *, had: bool) -> None:
        """One more session was had, or failed."""
        self.sessions_failed += not had
        self.had |= had
        self.failing = self.failing + 1 if self.had and not had else 0

    def anew(self) -> None:
        """The process was started anew."""
        self.failing, self.had = 0, False


@dataclass(slots=True, eq=False)
class Lane:
    """A connection, its session, and the case that it is about."""

    socket: socket.socket
    number: int
    port: int
    opened: float
    reader: ReplyReader = field(default_factory=ReplyReader)
    session: str = ""
    values: Values = field(default_factory=dict)
    left: int = 0
    """Cases that its session is still good for."""
    bare: bool = False
    """Whether tokens without headers go over it, both ways."""
    cases: int = 0
    """Cases that were sent over it."""
    correlation_id: int = 0
    steps: Steps | None = None
    asked: Ask | None = None
    index: int = -1
    """The case that it is about; -1: none."""
    sent: tuple[bytes, ...] = ()
    question: Question | None = None
    began: float = 0.0
    deadline: float = 0.0
    unwritten: memoryview | None = None
    connected: bool = False
    gone: bool = False
    trouble: str = ""
    """Why its session could not be had."""


class Connections:
    """Those to one address. most: how many at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts = Counts()
        self.idle: list[Lane] = []
        """Open, and about no case."""
        self.address: tuple[str, int] = ("", 0)
        self._place: Any = None
        self._selector = selectors.DefaultSelector()
        self._silent: dict[Lane, None] = {}
        """Those that nothing was heard on yet, oldest first."""
        self._number = 0
        self._correlation_id = 0

    def aim(self, address: tuple[str, int]) -> None:
        """Where they go from now on; what was open is closed."""
        self.close()
        self._selector = selectors.DefaultSelector()
        self.address = address
        self._place = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]

    def close(self) -> None:
        """Close all."""
        for key in list(self._selector.get_map().values()):
            key.data.socket.close()
        self._selector.close()
        self.idle = []
        self._silent = {}

    def correlation_id(self) -> int:
        """Another one, on whatever connection: a log may name nothing else of a request."""
        self._correlation_id = (self._correlation_id + 1) % (1 << 31)
        return self._correlation_id

    def fitting(self, fits: Callable[[Lane], bool]) -> Lane | None:
        """One that is open and fits; those that do not are closed."""
        while self.idle:
            lane = self.idle.pop()
            if fits(lane):
                return lane
            self.drop(lane)
        return None

    def may_dial(self) -> bool:
        """Whether the listener has room for another one."""
        if len(self._silent) >= BACKLOG:
            settled = time.perf_counter() - SETTLED_S
            for lane in [lane for lane in self._silent if lane.opened < settled]:
                del self._silent[lane]
        return len(self._silent) < BACKLOG

    def dial(self) -> Lane | None:
        """A new connection, which is not waited for; None if nobody listens."""
        family, kind, protocol, _, place = self._place
        connected = socket.socket(family, kind, protocol)
        connected.setblocking(False)
        if connected.connect_ex(place) not in (0, errno.EINPROGRESS):
            connected.close()
            return None
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._number += 1
        self.counts.opened += 1
        port = connected.getsockname()[1]
        lane = Lane(connected, self._number, port, time.perf_counter())
        self._silent[lane] = None
        self._selector.register(connected, selectors.EVENT_READ, lane)
        return lane

    def heard(self, lane: Lane) -> None:
        """It has said something, if only that it ended: it was taken."""
        self._silent.pop(lane, None)

    def drop(self, lane: Lane) -> None:
        """Close a connection."""
        lane.gone = True
        self._silent.pop(lane, None)
        self._selector.unregister(lane.socket)
        lane.socket.close()

    def writing(self, lane: Lane, wanted: bool) -> None:
        """Whether to be told, too, when there is room for what is to be written."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wanted else 0)
        self._selector.modify(lane.socket, events, lane)

    def ready(self, seconds: float) -> list[tuple[Lane, bool, bool]]:
        """Those that can be read from, or written to, or both; waits so long at most."""
        return [
            (key.data, bool(mask & selectors.EVENT_READ), bool(mask & selectors.EVENT_WRITE))
            for key, mask in self._selector.select(seconds)
        ]
