"""The first message of a connection, where it has to log in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.peers.replay.authentication import HASHES
from barnabas.specs import keys


def run(stage: Stage) -> Steps:
    """Nothing comes before it."""
    yield from ()
    return {}


def _others(key: int, version: int) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The other mechanisms."""
    if key == keys.SASL_HANDSHAKE:
        for mechanism in (*HASHES, "GSSAPI", "OAUTHBEARER"):
            yield mechanism, {"mechanism": mechanism}


GREETING: Final = Session(
    "greeting",
    "first on a connection that has not logged in",
    (keys.SASL_HANDSHAKE,),
    frozenset((keys.API_VERSIONS, keys.SASL_HANDSHAKE, keys.SASL_AUTHENTICATE)),
    1,
    run,
    body,
    _others,
    before_login=True,
)
