"""Brings a connection into a session: encodes its valid requests, decodes the responses. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from barnabas.fuzz.sessions.login import login
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.sessions.session import CLIENT_ID, Session, Stage, Steps, Stuck, Unoffered
from barnabas.fuzz.targets.connections import Lane
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs import Frame, Malformed, decode_frame, encode_frame
from barnabas.specs.codec import Unfit


class Failed(Exception):
    """A session that could not be had, and why."""


def begin(
    lane: Lane, name: str, offered: Mapping[int, tuple[int, int]], who: Credentials | None
) -> None:
    """The session of a name begins; "" is none. who: logs in before it, unless it is about what comes
    before a login. Raises Failed."""
    session = named(name) if name else None
    lane.session = name
    lane.left = 0
    if name and session is None:
        raise Failed(f"unknown session {name}")
    if session is not None:
        lane.left, lane.bare = session.lasts, session.bare
    lane.steps = _steps(session, Stage(offered, lane.number, who))


def _steps(session: Session | None, stage: Stage) -> Steps:
    if stage.who is not None and not (session is not None and session.before_login):
        yield from login(stage.who, stage.number)
    return {} if session is None else (yield from session.run(stage))


def step(lane: Lane, answer: Mapping[str, Any] | None, correlation_id: int) -> bytes | None:
    """The next request, given the answer to the one before; None: it is led there, and its values are
    known. Raises Failed."""
    assert lane.steps is not None  # noqa: S101
    try:
        ask = next(lane.steps) if answer is None else lane.steps.send(answer)
    except StopIteration as end:
        lane.steps = None
        lane.values = end.value or {}
        return None
    except (Unoffered, Stuck) as problem:
        raise Failed(str(problem)) from None
    lane.asked = ask
    lane.correlation_id = correlation_id
    header = {"correlation_id": lane.correlation_id, "client_id": CLIENT_ID}
    try:
        return encode_frame(Frame("request", ask.key, ask.version, header, dict(ask.body)))
    except Unfit as problem:
        raise Failed(str(problem)) from None


def answered(lane: Lane) -> dict[str, Any]:
    """The answer that came. Raises Failed."""
    assert lane.asked is not None  # noqa: S101
    reply, asked = lane.reader.replies[0], lane.asked
    try:
        return decode_frame(reply, "response", key=asked.key, version=asked.version).body
    except Malformed as problem:
        raise Failed(f"the response to a valid step can't be decoded: {problem}") from None
