"""A session on a connection of its own, with all frames kept: what a script needs to do it again."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.live import Values, filled
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.sessions.session import CLIENT_ID, Stage, Steps, Stuck, Unoffered
from barnabas.specs import Frame, decode_frame, encode_frame

LIMIT: Final = 10.0
"""Seconds for an answer, and for a session."""

PAUSE: Final = 0.1


class Asked(NamedTuple):
    """A valid request and its response; both without sizes."""

    key: int
    version: int
    request: bytes
    response: bytes


class Recorded(NamedTuple):
    """A session's exchanges, and the chunks of the case behind it, sizes included."""

    session: tuple[Asked, ...]
    chunks: tuple[bytes, ...]


def recorded(
    address: tuple[str, int], offered: Mapping[int, tuple[int, int]], case: Case, number: int
) -> Recorded:
    """Lead a connection into the session of a case. number: of the session's names. The case is not sent.

    Raises CannotRun."""
    session = named(case.recipe.session)
    if session is None:
        return Recorded((), case.chunks)
    deadline = time.monotonic() + LIMIT
    while True:
        asked: list[Asked] = []
        try:
            with socket.create_connection(address, LIMIT) as sock:
                values = _led(sock, session.run(Stage(offered, number)), asked)
            return Recorded(tuple(asked), filled(case, values, len(asked) + 1))
        except (Unoffered, Stuck, OSError, ValueError) as problem:
            # a coordinator that is not there yet
            if not isinstance(problem, Stuck) or time.monotonic() > deadline:
                line = f"the session {case.recipe.session} can't be had: {problem}"
                raise CannotRun(line) from None
            time.sleep(PAUSE)


def _led(sock: socket.socket, steps: Steps, asked: list[Asked]) -> Values:
    """Take all steps; what was asked is added. Returns the values that are known behind them."""
    answer: Mapping[str, Any] | None = None
    while True:
        try:
            ask = next(steps) if answer is None else steps.send(answer)
        except StopIteration as end:
            return end.value or {}
        header = {"correlation_id": len(asked) + 1, "client_id": CLIENT_ID}
        data = encode_frame(Frame("request", ask.key, ask.version, header, dict(ask.body)))
        sock.sendall(data)
        response = _frame(sock)
        asked.append(Asked(ask.key, ask.version, data[4:], response))
        answer = decode_frame(response, "response", key=ask.key, version=ask.version).body


def _frame(sock: socket.socket) -> bytes:
    size = int.from_bytes(_exactly(sock, 4))
    return _exactly(sock, size)


def _exactly(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise ConnectionResetError("the connection was closed")
        data += more
    return data
