"""A session on a connection of its own, with all frames kept: what a script needs to do it again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.live import Values, filled
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.sessions.session import CLIENT_ID, Stage, Steps, Stuck, Unoffered
from barnabas.fuzz.targets.probing import Prober, Unanswered
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.codec import Unfit

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
    address: tuple[str, int],
    offered: Mapping[int, tuple[int, int]],
    case: Case,
    number: int,
    who: Credentials | None = None,
) -> Recorded:
    """Lead a connection into the session of a case. number: of the session's names. who: logs in before it,
    which is not kept. The case is not sent.

    Raises CannotRun."""
    session = named(case.recipe.session)
    if session is None:
        return Recorded((), case.chunks)
    deadline = time.monotonic() + LIMIT
    prober = Prober(LIMIT, None if session.before_login else who, CLIENT_ID)
    while True:
        asked: list[Asked] = []
        prober.aim(address)
        try:
            values = _led(prober, session.run(Stage(offered, number, who)), asked)
            return Recorded(tuple(asked), filled(case, values, len(asked) + 1))
        except (Unoffered, Stuck, Unanswered, Unfit) as problem:
            # a coordinator that is not there yet
            if not isinstance(problem, Stuck) or time.monotonic() > deadline:
                line = f"the session {case.recipe.session} can't be had: {problem}"
                raise CannotRun(line) from None
            time.sleep(PAUSE)
        finally:
            prober.close()


def _led(prober: Prober, steps: Steps, asked: list[Asked]) -> Values:
    """Take all steps; what was asked is added. Returns the values that are known behind them."""
    answer: Mapping[str, Any] | None = None
    while True:
        try:
            ask = next(steps) if answer is None else steps.send(answer)
        except StopIteration as end:
            return end.value or {}
        request, response, answer = prober.exchange(ask.key, ask.version, ask.body)
        asked.append(Asked(ask.key, ask.version, request, response))
