"""Probes: well-formed requests of another client, on a connection that stays."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.observation import Probe
from barnabas.fuzz.observations.delayed_responses import AT_WORK_MS
from barnabas.fuzz.sessions.login import login
from barnabas.fuzz.sessions.session import Ask, Stuck
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs import Frame, Malformed, decode_frame, encode_frame
from barnabas.specs.keys import API_VERSIONS, METADATA

CLIENT_ID: Final = "barnabas-probe"

WAITED: Final = "no answer within"
"""So begins what is said where time was up."""

AT_WORK: Final = 0.01
"""Share of a core that a process has had at least which is at work, however busy the machine."""

Spent = Callable[[], float | None]


def _fine(answers: Sequence[Mapping[str, Any]]) -> str:
    return ""


PROBE: Final = (Ask(API_VERSIONS, 0, {}), Ask(METADATA, 1, {"topics": []}))

_LARGEST: Final = 64 << 20


class Unanswered(Exception):
    """A well-formed request got no answer, or none that can be read."""


class Exchanged(NamedTuple):
    """A request and its response, both without sizes, and what the latter says."""

    request: bytes
    response: bytes
    body: dict[str, Any]


class Patience:
    """For how long one answer is waited for: limit seconds; of a process that is at work and has had less
    than that of a processor, as long as AT_WORK_MS: a machine may be busy; but not once it is `over()`.
    spent: seconds that it has had."""

    def __init__(
        self,
        limit: float,
        spent: Spent,
        clock: Callable[[], float],
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._limit = limit
        self._over = over
        self._spent = spent
        self._clock = clock
        self._began = clock()
        self._before = spent()

    def left(self) -> float:
        """Seconds that it may take still, as far as is known now. Raises TimeoutError: none."""
        waited = self._clock() - self._began
        if waited < self._limit:
            return self._limit - waited
        if waited < AT_WORK_MS / 1000 and not self._over() and self._short_of_processor():
            return self._limit
        raise TimeoutError

    def _short_of_processor(self) -> bool:
        now = self._spent()
        if now is None or self._before is None:
            return False
        return AT_WORK * self._limit < now - self._before < self._limit


class Prober:
    """Asks one broker. limit: seconds that an answer may take. who: logs in first, if somebody has to. spent:
    seconds of a processor that the broker has had, None if that is not known."""

    def __init__(
        self,
        limit: float = 5.0,
        who: Credentials | None = None,
        client_id: str = CLIENT_ID,
        spent: Spent = lambda: None,
    ) -> None:
        self.limit = limit
        self.over: Callable[[], bool] = lambda: False
        """Whether nobody is waited for longer than the limit any more, at work or not."""
        self._client_id = client_id
        self._who = who
        self._spent = spent
        self._address: tuple[str, int] = ("", 0)
        self._socket: socket.socket | None = None
        self._correlation_id = 0

    @property
    def logs_in(self) -> bool:
        """Whether it does."""
        return self._who is not None

    def aim(self, address: tuple[str, int]) -> None:
        """Whom it asks from now on."""
        self.close()
        self._address = address

    def close(self) -> None:
        """Close its connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def probe(
        self, more: Sequence[Ask] = (), check: Callable[[Sequence[Mapping[str, Any]]], str] = _fine
    ) -> Probe:
        """Whether the broker answers ApiVersions and Metadata, and what `check` says of its answers to more
        questions, which are asked with them: in one go, since each wait is for a busy broker's turn. A
        connection that was lost is a problem that is told, and tried once more on a new one."""
        began = time.perf_counter()
        problem = ""
        fresh = self._socket is None
        for _ in range(1 if fresh else 2):
            try:
                answers = self._asked((*PROBE, *more))
                problem = problem or check([one.body for one in answers[len(PROBE) :]])
            except Unanswered as found:
                problem = str(found)
                self.close()
                if WAITED in problem:
                    break
            else:
                return Probe(True, (time.perf_counter() - began) * 1000, problem)
        return Probe(False, (time.perf_counter() - began) * 1000, problem)

    def offered(self) -> dict[int, tuple[int, int]]:
        """API key -> versions that the broker takes; empty if it does not say (before 0.10)."""
        try:
            found = self.ask(API_VERSIONS, 0, {})
        except Unanswered:
            self.close()
            return {}
        return {
            one["api_key"]: (one["min_version"], one["max_version"]) for one in found["api_keys"]
        }

    def ask(self, key: int, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of the response to a well-formed request. Raises Unanswered."""
        return self.exchange(key, version, body).body

    def exchange(self, key: int, version: int, body: Mapping[str, Any]) -> Exchanged:
        """A well-formed request and its response. Raises Unanswered, and Unfit for a body that none is."""
        return self._asked((Ask(key, version, body),))[0]

    def _asked(self, asks: Sequence[Ask]) -> list[Exchanged]:
        """Requests, sent in one go, and their responses."""
        try:
            if self._socket is None:
                self._socket = socket.create_connection(self._address, self.limit)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._who is not None:
                    self._log_in(self._who)
            return self._exchange(asks)
        except TimeoutError:
            self.close()
            raise Unanswered(f"{WAITED} {self.limit:.0f} s") from None
        except OSError as problem:
            self.close()
            raise Unanswered(f"the connection failed: {type(problem).__name__}") from None

    def _log_in(self, who: Credentials) -> None:
        steps = login(who, self._correlation_id)
        try:
            asked = next(steps)
            while True:
                (answer,) = self._exchange((asked,))
                asked = steps.send(answer.body)
        except StopIteration:
            return
        except (Stuck, Unanswered) as problem:
            self.close()
            raise Unanswered(str(problem)) from None

    def _exchange(self, asks: Sequence[Ask]) -> list[Exchanged]:
        assert self._socket is not None  # noqa: S101
        first = self._correlation_id + 1
        requests = []
        for ask in asks:
            self._correlation_id = (self._correlation_id + 1) % (1 << 31)
            header = {"correlation_id": self._correlation_id, "client_id": self._client_id}
            requests.append(
                encode_frame(Frame("request", ask.key, ask.version, header, dict(ask.body)))
            )
        self._socket.settimeout(self.limit)
        self._socket.sendall(b"".join(requests))
        return [
            Exchanged(request[4:], *self._answer(ask, (first + place) % (1 << 31)))
            for place, (ask, request) in enumerate(zip(asks, requests, strict=True))
        ]

    def _answer(self, ask: Ask, correlation_id: int) -> tuple[bytes, dict[str, Any]]:
        patience = Patience(self.limit, self._spent, time.perf_counter, self.over)
        size = int.from_bytes(self._exactly(4, patience), signed=True)
        if not 4 <= size <= _LARGEST:
            self.close()
            raise Unanswered(f"a response of {size} bytes")
        frame = self._exactly(size, patience)
        if int.from_bytes(frame[:4], signed=True) != correlation_id:
            self.close()
            raise Unanswered("the response to another request")
        try:
            said = decode_frame(frame, "response", key=ask.key, version=ask.version).body
        except Malformed as wrong:
            raise Unanswered(f"undecodable response: {wrong}") from None
        return frame, said

    def _exactly(self, count: int, patience: Patience) -> bytes:
        assert self._socket is not None  # noqa: S101
        parts = []
        while count:
            self._socket.settimeout(patience.left())
            try:
                data = self._socket.recv(min(count, 1 << 20))
            except TimeoutError:
                continue
            if not data:
                raise ConnectionResetError
            parts.append(data)
            count -= len(data)
        return b"".join(parts)
