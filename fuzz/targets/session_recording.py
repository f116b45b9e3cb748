"""A session on a separate connection, with all its frames: a script needs them to repeat it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.live_values import Values, filled
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.sessions.session import CLIENT_ID, Stage, Steps, Stuck, Unoffered
from barnabas.fuzz.targets.prober import Prober, Unanswered
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.codec import Unfit

LIMIT: Final = 10.0
"""Seconds that a response, and a session, may take."""

PAUSE: Final = 0.1


class RecordedExchange(NamedTuple):
    """A valid request and its response, both without sizes."""

    key: int
    version: int
    request: bytes
    response: bytes


class SessionRecording(NamedTuple):
    """A session's exchanges, and the chunks of the case that follows it, sizes included."""

    session: tuple[RecordedExchange, ...]
    chunks: tuple[bytes, ...]


def record_session(
    address: tuple[str, int],
    offered: Mapping[int, tuple[int, int]],
    case: Case,
    number: int,
    credentials: Credentials | None = None,
) -> SessionRecording:
    """Lead a connection into the session of a case, without sending the case. Raises CannotRun.

    Args:
        address: The broker's address.
        offered: The versions that the broker offers.
        case: The case.
        number: The number in the names of the session's group and transaction.
        credentials: The user that logs in first; the login is not recorded.
    """
    session = named(case.recipe.session)
    if session is None:
        return SessionRecording((), case.chunks)
    deadline = time.monotonic() + LIMIT
    prober = Prober(LIMIT, None if session.before_login else credentials, CLIENT_ID)
    while True:
        exchanges: list[RecordedExchange] = []
        prober.aim(address)
        try:
            values = _led(prober, session.run(Stage(offered, number, credentials)), exchanges)
            return SessionRecording(tuple(exchanges), filled(case, values, len(exchanges) + 1))
        except (Unoffered, Stuck, Unanswered, Unfit) as problem:
            # a coordinator may not be ready yet
            if not isinstance(problem, Stuck) or time.monotonic() > deadline:
                line = f"the session {case.recipe.session} is unavailable: {problem}"
                raise CannotRun(line) from None
            time.sleep(PAUSE)
        finally:
            prober.close()


def _led(prober: Prober, steps: Steps, exchanges: list[RecordedExchange]) -> Values:
    """Take all steps, add them to `exchanges`, and return the live values."""
    answer: Mapping[str, Any] | None = None
    while True:
        try:
            ask = next(steps) if answer is None else steps.send(answer)
        except StopIteration as end:
            return end.value or {}
        request, response, answer = prober.exchange(ask.key, ask.version, ask.body)
        exchanges.append(RecordedExchange(ask.key, ask.version, request, response))
