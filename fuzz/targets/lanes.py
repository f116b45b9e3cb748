"""Cases over several connections at once, a case at a time on each: the I/O of broker targets.

A connection stays for the next case where it survives. One that does not answer within the patience is
abandoned and another one takes its place: a broker may park a request as long as it likes.
"""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fuzz.case import Case
from fuzz.observation import Ending, Observation
from fuzz.sessions.contents import named
from fuzz.sessions.live import Values, filled
from fuzz.sessions.session import CLIENT_ID, Ask, Stage, Steps, Stuck, Unoffered
from fuzz.targets.wire import Question, Wire, question
from specs import Frame, Malformed, decode_frame, encode_frame
from specs.codec import Unfit

BYTEWISE: Final = 128
"""Bytes that are written one by one; what follows goes in one piece."""

CONNECT_S: Final = 3.0
"""Seconds that a connection may take; it is made while others are busy."""

_READ: Final = 1 << 16


@dataclass(slots=True)
class Counts:
    """What became of the connections."""

    opened: int = 0
    abandoned: int = 0
    sessions: int = 0
    sessions_failed: int = 0


@dataclass(slots=True, eq=False)
class _Lane:
    socket: socket.socket
    number: int
    port: int
    wire: Wire = field(default_factory=Wire)
    session: str = ""
    values: Values = field(default_factory=dict)
    left: int = 0
    """Cases that its session is still good for."""
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


class Lanes:
    """Connections to one address. patience: seconds for an answer; count: connections at once."""

    def __init__(self, count: int = 32, patience: float = 0.3) -> None:
        self.counts = Counts()
        self.offered: dict[int, tuple[int, int]] = {}
        """API key -> versions that the broker takes; empty: not known."""
        self._count = count
        self._patience = patience
        self._address: tuple[str, int] = ("", 0)
        self._place: Any = None
        self._selector = selectors.DefaultSelector()
        self._idle: list[_Lane] = []
        self._number = 0
        self._correlation_id = 0

    def aim(self, address: tuple[str, int]) -> None:
        """Where they go from now on; what was open is closed."""
        self.close()
        self._selector = selectors.DefaultSelector()
        self._address = address
        self._place = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]

    def close(self) -> None:
        """Close all."""
        for key in list(self._selector.get_map().values()):
            key.data.socket.close()
        self._selector.close()
        self._idle = []

    def run(self, cases: Sequence[Case], patience: float | None = None) -> list[Observation]:
        """One observation a case, in order. patience: another one than usual, in seconds."""
        run = _Run(self, cases, self._patience if patience is None else patience)
        try:
            return run.go()
        except BaseException:
            self.aim(self._address)
            raise

    def correlation_id(self) -> int:
        """Another one, on whatever connection: a log may name nothing else of a request."""
        self._correlation_id = (self._correlation_id + 1) % (1 << 31)
        return self._correlation_id

    def dial(self) -> _Lane | None:
        """A new connection; None if nobody listens."""
        # not waited for: where a backlog is full, the system tries again after a second only
        family, kind, protocol, _, place = self._place
        connected = socket.socket(family, kind, protocol)
        connected.setblocking(False)
        if connected.connect_ex(place) not in (0, errno.EINPROGRESS):
            connected.close()
            return None
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._number += 1
        self.counts.opened += 1
        lane = _Lane(connected, self._number, connected.getsockname()[1])
        self._selector.register(connected, selectors.EVENT_READ, lane)
        return lane

    def drop(self, lane: _Lane) -> None:
        """Close a connection."""
        lane.gone = True
        self._selector.unregister(lane.socket)
        lane.socket.close()

    @property
    def selector(self) -> selectors.BaseSelector:
        """What tells which of them has something to say."""
        return self._selector

    @property
    def idle(self) -> list[_Lane]:
        """Open, and about no case."""
        return self._idle

    @property
    def most(self) -> int:
        """How many there may be at once."""
        return self._count


class _Run:
    """One call of Lanes.run."""

    def __init__(self, lanes: Lanes, cases: Sequence[Case], patience: float) -> None:
        self._lanes = lanes
        self._cases = cases
        self._patience = patience
        self._found: list[Observation | None] = [None] * len(cases)
        self._waiting: dict[str, deque[int]] = {}
        for index, case in enumerate(cases):
            self._waiting.setdefault(case.recipe.session, deque()).append(index)
        self._left = len(cases)
        self._busy: set[_Lane] = set()

    def go(self) -> list[Observation]:
        lanes = self._lanes
        swept = time.perf_counter()
        while self._left:
            while self._waiting and len(self._busy) < lanes.most:
                self._dispatch()
            if not self._left:
                break
            events = lanes.selector.select(0.02)
            for key, mask in events:
                lane: _Lane = key.data
                if mask & selectors.EVENT_WRITE:
                    self._write(lane)
                if mask & selectors.EVENT_READ and not lane.gone:
                    self._read(lane)
            now = time.perf_counter()
            if now - swept > 0.01:
                swept = now
                for lane in [lane for lane in self._busy if lane.deadline <= now]:
                    self._expired(lane)
        return [one for one in self._found if one is not None]

    def _dispatch(self) -> None:
        """Give a case to a connection: one that is in its session, if there is any."""
        lane = self._lanes.idle.pop() if self._lanes.idle else None
        wanted = next(iter(self._waiting))
        if lane is not None and lane.left > 0 and lane.session in self._waiting:
            wanted = lane.session
        queue = self._waiting[wanted]
        index = queue.popleft()
        if not queue:
            del self._waiting[wanted]
        if (lane is not None and lane.session != wanted) or (lane and wanted and lane.left <= 0):
            self._lanes.drop(lane)
            lane = None
        if lane is None:
            lane = self._lanes.dial()
        if lane is None:
            case = self._cases[index]
            self._found[index] = Observation(case, ending="refused")
            self._left -= 1
            return
        lane.index = index
        self._busy.add(lane)
        if wanted and lane.session != wanted:
            self._begin_session(lane, wanted)
        else:
            self._send_case(lane)

    # sessions

    def _begin_session(self, lane: _Lane, name: str) -> None:
        session = named(name)
        lane.session = name
        lane.left = 0
        self._lanes.counts.sessions += 1
        if session is None:
            self._session_failed(lane, f"there is no session {name}")
            return
        lane.left = session.lasts
        lane.steps = session.run(Stage(self._lanes.offered, lane.number))
        self._step(lane, None)

    def _step(self, lane: _Lane, answer: Mapping[str, Any] | None) -> None:
        assert lane.steps is not None  # noqa: S101
        try:
            ask = next(lane.steps) if answer is None else lane.steps.send(answer)
        except StopIteration as end:
            lane.steps = None
            lane.values = end.value or {}
            self._send_case(lane)
            return
        except (Unoffered, Stuck) as problem:
            self._session_failed(lane, str(problem))
            return
        lane.asked = ask
        lane.correlation_id = self._lanes.correlation_id()
        header = {
            "request_api_key": ask.key,
            "request_api_version": ask.version,
            "correlation_id": lane.correlation_id,
            "client_id": CLIENT_ID,
        }
        try:
            data = encode_frame(Frame("request", ask.key, ask.version, header, dict(ask.body)))
        except Unfit as problem:
            self._session_failed(lane, str(problem))
            return
        lane.wire.begin()
        lane.deadline = time.perf_counter() + max(10.0, self._patience)
        self._start_writing(lane, data)

    def _session_answer(self, lane: _Lane) -> None:
        assert lane.asked is not None  # noqa: S101
        reply = lane.wire.replies[0]
        try:
            answer = decode_frame(
                reply, "response", key=lane.asked.key, version=lane.asked.version
            ).body
        except Malformed as problem:
            self._session_failed(
                lane, f"a valid step was answered with what can't be read: {problem}"
            )
            return
        self._step(lane, answer)

    def _session_failed(self, lane: _Lane, why: str) -> None:
        """The case goes without: it is still a case."""
        self._lanes.counts.sessions_failed += 1
        lane.steps = None
        lane.values = {}
        lane.left = 0
        lane.trouble = why
        self._send_case(lane)

    # a case

    def _send_case(self, lane: _Lane) -> None:
        case = self._cases[lane.index]
        lane.left -= 1
        lane.correlation_id = self._lanes.correlation_id()
        lane.sent = filled(case, lane.values, lane.correlation_id)
        lane.question = question(lane.sent)
        lane.wire.begin()
        lane.began = time.perf_counter()
        lane.deadline = lane.began + self._patience
        if case.delivery == "bytewise":
            data = b"".join(lane.sent)
            at = 0
            try:
                while at < min(BYTEWISE, len(data)):
                    at += lane.socket.send(data[at : at + 1])
            except BlockingIOError:
                pass  # not connected yet: then it goes in one piece
            except OSError as problem:
                self._finish(lane, _ending(problem))
                return
            if at < len(data):
                self._start_writing(lane, data[at:])
            else:
                self._written(lane)
            return
        self._start_writing(lane, lane.sent[0] if len(lane.sent) == 1 else b"".join(lane.sent))

    def _start_writing(self, lane: _Lane, data: bytes) -> None:
        try:
            done = lane.socket.send(data)
            lane.connected = True
        except BlockingIOError:
            done = 0
            if not lane.connected:
                lane.deadline = max(lane.deadline, time.perf_counter() + CONNECT_S)
        except OSError as problem:
            self._ended(lane, _ending(problem))
            return
        if done < len(data):
            lane.unwritten = memoryview(data)[done:]
            both = selectors.EVENT_READ | selectors.EVENT_WRITE
            self._lanes.selector.modify(lane.socket, both, lane)
        else:
            self._written(lane)

    def _write(self, lane: _Lane) -> None:
        if lane.unwritten is None or lane not in self._busy:
            return
        try:
            done = lane.socket.send(lane.unwritten[: 1 << 20])
        except BlockingIOError:
            return
        except OSError as problem:
            lane.unwritten = None
            self._ended(lane, _ending(problem))
            return
        if not lane.connected:
            lane.connected = True
            lane.began = time.perf_counter()
        lane.unwritten = lane.unwritten[done:]
        lane.deadline = time.perf_counter() + self._patience
        if not lane.unwritten:
            lane.unwritten = None
            self._lanes.selector.modify(lane.socket, selectors.EVENT_READ, lane)
            self._written(lane)

    def _written(self, lane: _Lane) -> None:
        if lane.steps is not None:
            return
        if self._cases[lane.index].delivery == "half_open":
            with contextlib.suppress(OSError):
                lane.socket.shutdown(socket.SHUT_WR)
            return
        asked = lane.question
        if asked is not None and not asked.answers and asked.rest != "nonsense":
            # nobody has to answer: a broker that closes does so at once or not at all
            lane.deadline = min(lane.deadline, lane.began + 0.02)

    def _read(self, lane: _Lane) -> None:
        try:
            data = lane.socket.recv(_READ)
        except BlockingIOError:
            return
        except OSError as problem:
            self._ended(lane, _ending(problem))
            return
        if not data:
            self._ended(lane, "closed")
            return
        wire = lane.wire
        wire.receive(data)
        if lane not in self._busy:  # it said something that nobody had asked
            self._lanes.drop(lane)
            self._lanes.idle.remove(lane)
        elif lane.steps is not None:
            if wire.replies:
                self._session_answer(lane)
        elif wire.garbled:
            self._finish(lane, "open", abandoned=True)
        elif lane.question is not None and len(wire.replies) >= lane.question.answers:
            self._answered(lane, lane.question)

    def _answered(self, lane: _Lane, asked: Question) -> None:
        """All that was due has come. The connection goes on where nothing of the case is left in it."""
        half = self._cases[lane.index].delivery == "half_open"
        if asked.rest == "nonsense" or half:
            return  # it has to be closed
        self._finish(lane, "open", abandoned=bool(asked.rest) or lane.wire.midway, blame=False)

    def _ended(self, lane: _Lane, ending: Ending) -> None:
        if lane not in self._busy:
            self._lanes.drop(lane)
            self._lanes.idle.remove(lane)
        elif lane.steps is not None:
            # the session was cut short: the case would find no connection
            lane.trouble = "the connection ended in its session"
            lane.sent, lane.question = (), None
            lane.began = time.perf_counter()
            self._lanes.counts.sessions_failed += 1
            self._finish(lane, ending)
        else:
            self._finish(lane, ending)

    def _expired(self, lane: _Lane) -> None:
        if lane.steps is not None:
            lane.steps = None
            lane.trouble = "a valid step of its session was not answered"
            lane.sent, lane.question = (), None
            lane.began = time.perf_counter()
            self._lanes.counts.sessions_failed += 1
        asked = lane.question
        due = asked is None or asked.rest == "nonsense" or len(lane.wire.replies) < asked.answers
        spoilt = due or (asked is not None and asked.rest != "")
        self._finish(lane, "open", abandoned=spoilt, blame=due)

    def _finish(
        self, lane: _Lane, ending: Ending, *, abandoned: bool = False, blame: bool = True
    ) -> None:
        case = self._cases[lane.index]
        took = (time.perf_counter() - lane.began) * 1000
        facts: tuple[tuple[str, object], ...] = (("port", lane.port),)
        if lane.trouble:
            facts += (("session_failed", lane.trouble),)
        if lane.wire.garbled:
            facts += (("garbled", True),)
        if abandoned and blame:
            facts += (("waited_ms", round(took)),)
        self._found[lane.index] = Observation(
            case, lane.sent, tuple(lane.wire.replies), ending, took, facts=facts
        )
        self._left -= 1
        self._busy.discard(lane)
        lane.index = -1
        lane.trouble = ""
        if ending != "open" or abandoned or lane.unwritten is not None:
            self._lanes.counts.abandoned += abandoned and blame
            self._lanes.drop(lane)
        else:
            self._lanes.idle.append(lane)


def _ending(problem: OSError) -> Ending:
    """What a failed call says of a connection."""
    return "refused" if isinstance(problem, ConnectionRefusedError) else "reset"
