"""The setup of a session on a connection: encodes valid requests, decodes the responses. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from barnabas.fuzz.sessions.login import login
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.sessions.session import CLIENT_ID, Session, Stage, Steps, Stuck, Unoffered
from barnabas.fuzz.targets.connections import CaseConnection
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs import Frame, Malformed, decode_frame, encode_frame
from barnabas.specs.codec import Unfit


class Failed(Exception):
    """A session that could not be set up, with the reason."""


def begin(
    connection: CaseConnection,
    name: str,
    offered: Mapping[int, tuple[int, int]],
    credentials: Credentials | None,
) -> None:
    """Begin the session of a name on a connection; "" is none. Raises Failed.

    credentials: the user that logs in first, unless the session is before a login.
    """
    session = named(name) if name else None
    connection.session = name
    connection.remaining = 0
    if name and session is None:
        raise Failed(f"unknown session {name}")
    if session is not None:
        connection.remaining, connection.bare = session.lasts, session.bare
    connection.steps = _steps(session, Stage(offered, connection.number, credentials))


def _steps(session: Session | None, stage: Stage) -> Steps:
    if stage.credentials is not None and not (session is not None and session.before_login):
        yield from login(stage.credentials, stage.number)
    return {} if session is None else (yield from session.run(stage))


def step(
    connection: CaseConnection, answer: Mapping[str, Any] | None, correlation_id: int
) -> bytes | None:
    """Return the next request of the session; None if the session is set up. Raises Failed.

    answer: the body of the response to the request before.
    """
    assert connection.steps is not None  # noqa: S101
    try:
        ask = next(connection.steps) if answer is None else connection.steps.send(answer)
    except StopIteration as end:
        connection.steps = None
        connection.values = end.value or {}
        return None
    except (Unoffered, Stuck) as problem:
        raise Failed(str(problem)) from None
    connection.request = ask
    connection.correlation_id = correlation_id
    header = {"correlation_id": connection.correlation_id, "client_id": CLIENT_ID}
    try:
        return encode_frame(Frame("request", ask.key, ask.version, header, dict(ask.body)))
    except Unfit as problem:
        raise Failed(str(problem)) from None


def answered(connection: CaseConnection) -> dict[str, Any]:
    """Decode the response to the session's request. Raises Failed."""
    assert connection.request is not None  # noqa: S101
    reply, request = connection.reader.replies[0], connection.request
    try:
        return decode_frame(reply, "response", key=request.key, version=request.version).body
    except Malformed as problem:
        raise Failed(f"the response to a valid step can't be decoded: {problem}") from None
