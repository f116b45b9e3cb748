"""The registry of all sessions, and the valid messages that may follow each."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.sessions.authentication import AUTHENTICATING
from barnabas.fuzz.sessions.configs import CONFIGURING
from barnabas.fuzz.sessions.disorder import DISORDERED
from barnabas.fuzz.sessions.members import CONSUMING, JOINED
from barnabas.fuzz.sessions.partial_sessions import parts, without
from barnabas.fuzz.sessions.producers import IDEMPOTENT, TRANSACTION
from barnabas.fuzz.sessions.session import CLIENT_ID, Session, Stage, Unoffered
from barnabas.fuzz.sessions.share_members import SHARING, SHARING_STATES
from barnabas.fuzz.sessions.streams_members import STREAMING
from barnabas.fuzz.sessions.topic_clients import FETCHING, KNOWING
from barnabas.fuzz.sessions.transactions import TRANSACTION_STATES
from barnabas.fuzz.sessions.two_members import TWO_MEMBERS
from barnabas.specs import Frame, encode_frame
from barnabas.specs.registry import api

SESSIONS: Final[tuple[Session, ...]] = (
    KNOWING,
    IDEMPOTENT,
    FETCHING,
    JOINED,
    CONSUMING,
    TRANSACTION,
    *TRANSACTION_STATES,
    *TWO_MEMBERS,
    SHARING,
    *SHARING_STATES,
    *STREAMING,
    *DISORDERED,
    CONFIGURING,
    *AUTHENTICATING,
)


def named(text: str) -> Session | None:
    """Return the session of a recipe, perhaps without some of its steps; None if it is unknown.

    >>> found = named("joined without SyncGroup")
    >>> found and found.name
    'joined without SyncGroup'
    """
    name, left_out = parts(text)
    for session in SESSIONS:
        if session.name == name:
            return without(session, left_out) if left_out else session
    return None


@functools.lru_cache(maxsize=256)
def is_bare(text: str) -> bool:
    """Return whether cases of a recipe's session are tokens without a header.

    >>> is_bare("plain-bare without SaslHandshake"), is_bare("plain"), is_bare("")
    (True, False, False)
    """
    session = named(text)
    return session is not None and session.bare


def seeds(
    offered: Mapping[int, tuple[int, int]] | None = None, sessions: Iterable[Session] = SESSIONS
) -> list[Seed]:
    """Return a valid message of each API and version after each session.

    offered: the versions that a broker offers, if they are known; others are left out.

    >>> [seed.origin for seed in seeds({22: (0, 0), 24: (0, 0), 26: (0, 1)}) if seed.key == 26]
    ['session:transaction:EndTxn-0', 'session:transaction:EndTxn-1']
    """
    return [
        seed
        for session in sessions
        if not offered or session.possible(offered)
        for key in sorted(session.keys)
        for seed in _of(session, key, Stage(offered or {}))
    ]


def _of(session: Session, key: int, stage: Stage) -> list[Seed]:
    seeds_found: list[Seed] = []
    seed = _bare if session.bare else _seed
    try:
        newest = stage.version(key)
    except Unoffered:
        return []
    name, oldest = api(key).name, api(key).versions[0]
    if stage.offered:
        oldest = max(oldest, stage.offered[key][0])
    if session.bare:  # it follows the first version of the handshake, and counts as that
        newest = oldest
    for version in reversed(range(oldest, newest + 1)):
        if session.newest_only and seeds_found:
            break
        origin = f"session:{session.name}:{name}-{version}"
        body = session.body(key, version)
        if body is not None:
            seeds_found.append(seed(key, version, body, origin))
        seeds_found += [
            seed(key, version, other, f"{origin}:{variant}")
            for variant, other in session.others(key, version)
        ]
    return sorted(seeds_found, key=lambda seed: seed.version)


def _seed(key: int, version: int, body: Mapping[str, Any], origin: str) -> Seed:
    header = {"correlation_id": 1, "client_id": CLIENT_ID}
    frame = encode_frame(Frame("request", key, version, header, dict(body)))[4:]
    return Seed(key, version, "request", frame, origin)


def _bare(key: int, version: int, body: Mapping[str, Any], origin: str) -> Seed:
    return Seed(key, version, "request", body["auth_bytes"], origin)
