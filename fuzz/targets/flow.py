"""Cases in flight over several connections, one at a time on each.

A connection stays for the next case where it survives. One that does not answer within the patience is
abandoned and another one takes its place: a broker may park a request as long as it likes. Meanwhile the
other cases go on.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Ending, Observation
from barnabas.fuzz.observations.requests import Question, question
from barnabas.fuzz.sessions.live import filled
from barnabas.fuzz.targets import session_setup, writing
from barnabas.fuzz.targets.connections import Connections, Lane
from barnabas.fuzz.targets.entries import Logged
from barnabas.fuzz.targets.following import Following
from barnabas.fuzz.targets.observed import ending_of, observed
from barnabas.fuzz.targets.waiting import Waiting
from barnabas.peers.replay.authentication import Credentials

CONNECT_S: Final = 3.0
"""Seconds that a connection may take; it is made while others are busy."""

STEP_S: Final = 10.0
"""Seconds that a valid step of a session may take."""

QUIET_S: Final = 0.02
"""Seconds that what has no answer is waited for: a broker that closes does so at once or not at all."""

PARKED_S: Final = 0.05
"""Seconds after which a case makes room for another one, up to all but one of them: a broker may park it."""

_READ: Final = 1 << 16
_SWEEP_S: Final = 0.01
"""How often it is looked for whom patience has run out with."""

Placed = tuple[int, Observation]
"""The observation of a case, and the place of that case among those that were given."""


class Flow:
    """Cases in flight, sent in about their order; observations are taken in batches. log: what the broker's
    log gained since it was last asked."""

    def __init__(
        self,
        connections: Connections,
        offered: Mapping[int, tuple[int, int]],
        cases: Sequence[Case],
        patience: float,
        who: Credentials | None = None,
        log: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self._who = who
        self._following = Following(log)
        self._connections = connections
        self._offered = offered
        self._cases = cases
        self._patience = patience
        self._found: list[Placed] = []
        self.looks: dict[int, int] = {}
        """By the place of a case, at which look at all connections it was over."""
        self._look = 0
        self._waiting = Waiting(cases)
        self._busy: set[Lane] = set()

    @property
    def over(self) -> bool:
        """Whether all has been told."""
        return not (self._waiting or self._busy or self._found)

    def some(self, count: int, over: Callable[[], bool] = lambda: False) -> list[Placed]:
        """What became of so many more cases, or of all that are left, in the order in which they were over;
        the others go on. Once it is `over()` nobody under way is waited for any longer."""
        try:
            self._pump(count, over)
        except BaseException:
            self._connections.aim(self._connections.address)
            raise
        found, self._found = self._found, []
        return found

    @property
    def waited(self) -> float:
        """For how many seconds the case that was sent first of those under way has been."""
        now = time.perf_counter()
        return max((now - lane.began for lane in self._busy if lane.steps is None), default=0.0)

    def logged(self) -> list[Logged]:
        """Pieces of the log since this was last asked."""
        return self._following.logged([self._cases[lane.index].number for lane in self._busy])

    def stop(self) -> int:
        """Send no case behind the last that was sent; the place of that."""
        self._waiting.stop()
        return self._waiting.last

    def rest(self) -> list[Placed]:
        """What became of those under way; no others are sent."""
        self._waiting.clear()
        return self.some(len(self._cases))

    def under_way(self, port: int | None, correlation_id: int | None) -> bool:
        """Whether a case is, on a connection from this port or with a request of this id."""
        return any(
            lane.port == port if port is not None else lane.correlation_id == correlation_id
            for lane in self._busy
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
            for lane, readable, writable in connections.ready(_SWEEP_S):
                if writable:
                    self._write(lane)
                if readable and not lane.gone:
                    self._read(lane)
            now = time.perf_counter()
            if now - swept > _SWEEP_S:
                swept = now
                ends = over()
                for lane in [lane for lane in self._busy if ends or lane.deadline <= now]:
                    self._expired(lane)
                parked = sum(lane.began < now - PARKED_S for lane in self._busy if not lane.steps)
            self._following.look()

    def _dispatch(self) -> bool:
        """Give a case to a connection, to one that is in its session if there is any; False if there is
        no room for another connection now."""
        lane = self._connections.fitting(self._fits)
        if lane is None and not self._connections.may_dial():
            return False
        wanted = self._waiting.session if lane is None else lane.session
        index = self._waiting.take(wanted)
        fresh = lane is None
        if lane is None:
            lane = self._connections.dial()
        if lane is None:
            self._found.append((index, Observation(self._cases[index], ending="refused")))
            return True
        lane.index = index
        self._busy.add(lane)
        if fresh and (wanted or self._who is not None):
            self._lead(lane, wanted)
        else:
            self._send_case(lane)
        return True

    def _fits(self, lane: Lane) -> bool:
        return lane.session in self._waiting and (not lane.session or lane.left > 0)

    # sessions

    def _lead(self, lane: Lane, name: str | None = None) -> None:
        """Lead a connection into the session of a name, or on in the one that it is in. If that can't be had,
        the case goes without: it is still a case."""
        counts, answer, data = self._connections.counts, None, None
        try:
            if name is not None:
                counts.sessions += 1
                session_setup.begin(lane, name, self._offered, self._who)
            else:
                answer = session_setup.answered(lane)
            data = session_setup.step(lane, answer, self._connections.correlation_id())
            if data is None and lane.session:
                counts.session(had=True)
        except session_setup.Failed as problem:
            counts.session(had=False)
            lane.steps, lane.values, lane.left = None, {}, 0
            lane.trouble = str(problem)
        if data is None:
            self._send_case(lane)
            return
        lane.reader.begin()
        lane.deadline = time.perf_counter() + max(STEP_S, self._patience)
        self._send(lane, data)

    def _cut_short(self, lane: Lane, why: str) -> None:
        """A session ends before the case was sent."""
        lane.steps, lane.trouble = None, why
        lane.sent, lane.question = (), None
        lane.began = time.perf_counter()
        self._connections.counts.session(had=False)

    # a case

    def _send_case(self, lane: Lane) -> None:
        case = self._cases[lane.index]
        lane.left -= 1
        lane.cases += 1
        lane.correlation_id = self._connections.correlation_id()
        lane.sent = filled(case, lane.values, lane.correlation_id)
        lane.question = question(lane.sent)
        lane.reader.begin()
        lane.began = time.perf_counter()
        lane.deadline = lane.began + self._patience
        data = lane.sent[0] if len(lane.sent) == 1 else b"".join(lane.sent)
        if case.delivery == "bytewise":
            try:
                data = writing.bytewise(lane, data)
            except OSError as problem:
                self._finish(lane, ending_of(problem))
                return
        self._send(lane, data)

    def _send(self, lane: Lane, data: bytes) -> None:
        try:
            done = not data or writing.begin(lane, data)
        except OSError as problem:
            self._ended(lane, ending_of(problem))
            return
        if done:
            self._written(lane)
            return
        if not lane.connected:
            lane.deadline = max(lane.deadline, time.perf_counter() + CONNECT_S)
        self._connections.writing(lane, True)

    def _write(self, lane: Lane) -> None:
        if lane not in self._busy:
            return
        try:
            if not writing.more(lane):
                return
        except OSError as problem:
            lane.unwritten = None
            self._ended(lane, ending_of(problem))
            return
        now = time.perf_counter()
        if not lane.connected:
            lane.connected = True
            lane.began = now
        lane.deadline = now + self._patience
        if lane.unwritten is None:
            self._connections.writing(lane, False)
            self._written(lane)

    def _written(self, lane: Lane) -> None:
        if lane.steps is not None:
            return
        if self._cases[lane.index].delivery == "half_open":
            with contextlib.suppress(OSError):
                lane.socket.shutdown(socket.SHUT_WR)
            return
        asked = lane.question
        if asked is not None and not asked.answers and asked.rest != "nonsense":
            lane.deadline = min(lane.deadline, lane.began + QUIET_S)

    def _read(self, lane: Lane) -> None:
        self._connections.heard(lane)
        try:
            data = lane.socket.recv(_READ)
        except BlockingIOError:
            return
        except OSError as problem:
            self._ended(lane, ending_of(problem))
            return
        if not data:
            self._ended(lane, "closed")
            return
        reader = lane.reader
        reader.receive(data)
        if lane not in self._busy:  # it said something that nobody had asked
            self._connections.drop(lane)
            self._connections.idle.remove(lane)
        elif lane.steps is not None:
            if reader.replies:
                self._lead(lane)
        elif reader.garbled:
            self._finish(lane, "open", abandoned=True)
        elif lane.question is not None and len(reader.replies) >= lane.question.answers:
            self._answered(lane, lane.question)

    def _answered(self, lane: Lane, asked: Question) -> None:
        """All that was due has come. The connection goes on where nothing of the case is left in it."""
        half = self._cases[lane.index].delivery == "half_open"
        if asked.rest == "nonsense" or half:
            return  # it has to be closed
        spoilt = bool(asked.rest) or lane.reader.midway or asked.untold
        self._finish(lane, "open", abandoned=spoilt, blame=False)

    def _ended(self, lane: Lane, ending: Ending) -> None:
        if lane not in self._busy:
            self._connections.drop(lane)
            self._connections.idle.remove(lane)
            return
        if lane.steps is not None:
            self._cut_short(lane, "the connection ended in its session")  # the case would find none
        self._finish(lane, ending)

    def _expired(self, lane: Lane) -> None:
        if lane.steps is not None:
            self._cut_short(lane, "a valid step of its session was not answered")
        asked = lane.question
        due = asked is None or asked.rest == "nonsense" or len(lane.reader.replies) < asked.answers
        spoilt = due or (asked is not None and (asked.rest != "" or asked.untold))
        self._finish(lane, "open", abandoned=spoilt, blame=due)

    def _finish(
        self, lane: Lane, ending: Ending, *, abandoned: bool = False, blame: bool = True
    ) -> None:
        found = observed(self._cases[lane.index], lane, ending, waited=abandoned and blame)
        self._found.append((lane.index, found))
        self.looks[lane.index] = self._look
        self._following.over(self._cases[lane.index].number)
        self._busy.discard(lane)
        lane.index = -1
        lane.trouble = ""
        if ending != "open" or abandoned or lane.unwritten is not None:
            self._connections.counts.abandoned += abandoned and blame
            self._connections.drop(lane)
        else:
            self._connections.idle.append(lane)
