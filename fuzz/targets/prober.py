"""Probes: well-formed requests of another client, on a connection that stays open."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.observation import Probe
from barnabas.fuzz.observations.delayed_responses import AT_WORK_MS
from barnabas.fuzz.sessions.login import login
from barnabas.fuzz.sessions.session import Request, Stuck
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs import Frame, Malformed, decode_frame, encode_frame
from barnabas.specs.keys import API_VERSIONS, METADATA

CLIENT_ID: Final = "barnabas-probe"

WAITED: Final = "no answer within"
"""The beginning of the message when a response does not come in time."""

AT_WORK: Final = 0.01
"""Minimal share of a core used by a process that is at work, however busy the machine is."""

Spent = Callable[[], float | None]


def _fine(answers: Sequence[Mapping[str, Any]]) -> str:
    return ""


PROBE: Final = (Request(API_VERSIONS, 0, {}), Request(METADATA, 1, {"topics": []}))

_LARGEST: Final = 64 << 20


class Unanswered(Exception):
    """A well-formed request got no response, or an unreadable one."""


class ProbeExchange(NamedTuple):
    """A request and its response, both without sizes, and the response's body."""

    request: bytes
    response: bytes
    body: dict[str, Any]


class ResponseTimeout:
    """The time that one response may take.

    `timeout` seconds, or AT_WORK_MS for a process that is at work but has used less processor time than that:
    the machine may be busy. Once `over()`, only `timeout`. spent: returns the processor seconds that the
    process has used.
    """

    def __init__(
        self,
        timeout: float,
        spent: Spent,
        clock: Callable[[], float],
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._timeout = timeout
        self._over = over
        self._spent = spent
        self._clock = clock
        self._began = clock()
        self._before = spent()

    def remaining(self) -> float:
        """Return the seconds that the response may still take. Raises TimeoutError if there are none."""
        waited = self._clock() - self._began
        if waited < self._timeout:
            return self._timeout - waited
        if waited < AT_WORK_MS / 1000 and not self._over() and self._short_of_processor():
            return self._timeout
        raise TimeoutError

    def _short_of_processor(self) -> bool:
        now = self._spent()
        if now is None or self._before is None:
            return False
        return AT_WORK * self._timeout < now - self._before < self._timeout


class Prober:
    """Sends well-formed requests to one broker.

    Args:
        timeout: Seconds that a response may take.
        credentials: The user of the connection, if the broker wants a login.
        client_id: The client id of requests.
        spent: Returns the processor seconds that the broker has used, None if unknown.
    """

    def __init__(
        self,
        timeout: float = 5.0,
        credentials: Credentials | None = None,
        client_id: str = CLIENT_ID,
        spent: Spent = lambda: None,
    ) -> None:
        self.timeout = timeout
        self.over: Callable[[], bool] = lambda: False
        """Tells whether responses are waited for no longer than the timeout, even if the broker works."""
        self._client_id = client_id
        self._credentials = credentials
        self._spent = spent
        self._address: tuple[str, int] = ("", 0)
        self._socket: socket.socket | None = None
        self._correlation_id = 0

    @property
    def logs_in(self) -> bool:
        """Return whether connections log in."""
        return self._credentials is not None

    def aim(self, address: tuple[str, int]) -> None:
        """Close the connection and set the broker's address."""
        self.close()
        self._address = address

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def probe(
        self,
        more: Sequence[Request] = (),
        check: Callable[[Sequence[Mapping[str, Any]]], str] = _fine,
    ) -> Probe:
        """Probe the broker with ApiVersions and Metadata.

        Further requests are sent together with them, since each wait is for a busy broker's turn. A lost
        connection is a problem that is reported, and the probe is tried once more on a new one.

        Args:
            more: Further requests.
            check: Returns what is wrong with their responses as a message, "" if nothing is.
        """
        began = time.perf_counter()
        problem = ""
        is_new = self._socket is None
        for _ in range(1 if is_new else 2):
            try:
                answers = self._asked((*PROBE, *more))
                problem = problem or check([response.body for response in answers[len(PROBE) :]])
            except Unanswered as found:
                problem = str(found)
                self.close()
                if WAITED in problem:
                    break
            else:
                return Probe(True, (time.perf_counter() - began) * 1000, problem)
        return Probe(False, (time.perf_counter() - began) * 1000, problem)

    def offered(self) -> dict[int, tuple[int, int]]:
        """Return the versions that the broker offers by API key.

        The result is empty if the broker does not report them (before 0.10).
        """
        try:
            response = self.ask(API_VERSIONS, 0, {})
        except Unanswered:
            self.close()
            return {}
        return {
            row["api_key"]: (row["min_version"], row["max_version"]) for row in response["api_keys"]
        }

    def ask(self, key: int, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a well-formed request and return the response's body. Raises Unanswered."""
        return self.exchange(key, version, body).body

    def exchange(self, key: int, version: int, body: Mapping[str, Any]) -> ProbeExchange:
        """Send a well-formed request and return it with its response.

        Raises:
            Unanswered: There is no response, or an unreadable one.
            Unfit: The body does not fit the API's layout.
        """
        return self._asked((Request(key, version, body),))[0]

    def _asked(self, asks: Sequence[Request]) -> list[ProbeExchange]:
        """Send requests in one write and return their responses."""
        try:
            if self._socket is None:
                self._socket = socket.create_connection(self._address, self.timeout)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._credentials is not None:
                    self._log_in(self._credentials)
            return self._exchange(asks)
        except TimeoutError:
            self.close()
            raise Unanswered(f"{WAITED} {self.timeout:.0f} s") from None
        except OSError as problem:
            self.close()
            raise Unanswered(f"the connection failed: {type(problem).__name__}") from None

    def _log_in(self, credentials: Credentials) -> None:
        steps = login(credentials, self._correlation_id)
        try:
            request = next(steps)
            while True:
                (answer,) = self._exchange((request,))
                request = steps.send(answer.body)
        except StopIteration:
            return
        except (Stuck, Unanswered) as problem:
            self.close()
            raise Unanswered(str(problem)) from None

    def _exchange(self, asks: Sequence[Request]) -> list[ProbeExchange]:
        assert self._socket is not None  # noqa: S101
        first = self._correlation_id + 1
        requests = []
        for ask in asks:
            self._correlation_id = (self._correlation_id + 1) % (1 << 31)
            header = {"correlation_id": self._correlation_id, "client_id": self._client_id}
            requests.append(
                encode_frame(Frame("request", ask.key, ask.version, header, dict(ask.body)))
            )
        self._socket.settimeout(self.timeout)
        self._socket.sendall(b"".join(requests))
        return [
            ProbeExchange(request[4:], *self._answer(ask, (first + index) % (1 << 31)))
            for index, (ask, request) in enumerate(zip(asks, requests, strict=True))
        ]

    def _answer(self, ask: Request, correlation_id: int) -> tuple[bytes, dict[str, Any]]:
        timeout = ResponseTimeout(self.timeout, self._spent, time.perf_counter, self.over)
        size = int.from_bytes(self._exactly(4, timeout), signed=True)
        if not 4 <= size <= _LARGEST:
            self.close()
            raise Unanswered(f"a response of {size} bytes")
        frame = self._exactly(size, timeout)
        if int.from_bytes(frame[:4], signed=True) != correlation_id:
            self.close()
            raise Unanswered("the response to another request")
        try:
            body = decode_frame(frame, "response", key=ask.key, version=ask.version).body
        except Malformed as wrong:
            raise Unanswered(f"undecodable response: {wrong}") from None
        return frame, body

    def _exactly(self, count: int, timeout: ResponseTimeout) -> bytes:
        assert self._socket is not None  # noqa: S101
        parts = []
        while count:
            self._socket.settimeout(timeout.remaining())
            try:
                data = self._socket.recv(min(count, 1 << 20))
            except TimeoutError:
                continue
            if not data:
                raise ConnectionResetError
            parts.append(data)
            count -= len(data)
        return b"".join(parts)
