"""A connection logs in by SASL before anything else (KIP-43, KIP-152).

In the first version of SaslAuthenticate, which every broker has that has it at all.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.session import Ask, Steps, Stuck
from barnabas.peers.replay.authentication import Credentials, Refused, tokens_of
from barnabas.specs import keys
from barnabas.specs.error_codes import error_name

USERNAME: Final = "barnabas"
PASSWORD: Final = "barnabas-secret"  # noqa: S105 (of a broker on loopback)
"""Of the one user of a broker that is started for a campaign."""

NAMED: Final = 1
"""The version of SaslHandshake behind which tokens come in SaslAuthenticate; behind v0 they come bare."""


def credentials(mechanism: str) -> Credentials:
    """The user's, by a mechanism."""
    return Credentials(mechanism, USERNAME, PASSWORD)


def nonce(number: int) -> str:
    """A client's nonce for SCRAM, of a fixed length. Nobody guesses passwords here: it need not be random."""
    return f"fuzz{number % 1000000:06}"


def login(who: Credentials, number: int) -> Steps:
    """All that it takes. Raises Stuck where the broker lets nobody in."""
    yield from handshake(who.mechanism)
    tokens = tokens_of(who, nonce(number))
    token = next(tokens)
    try:
        while True:
            token = tokens.send((yield from authenticate(token)))
    except StopIteration:
        return {}
    except Refused as problem:
        raise Stuck(str(problem)) from None


def handshake(mechanism: str, version: int = NAMED) -> Steps:
    """Names the mechanism. Raises Stuck."""
    answer = yield Ask(keys.SASL_HANDSHAKE, version, {"mechanism": mechanism})
    if answer["error_code"]:
        said = error_name(answer["error_code"])
        raise Stuck(f"SaslHandshake for {mechanism} was answered with {said}")
    return {}


def authenticate(token: bytes) -> Generator[Ask, Mapping[str, Any], bytes]:
    """Sends a token: what is answered. Raises Stuck."""
    answer = yield Ask(keys.SASL_AUTHENTICATE, 0, {"auth_bytes": token})
    if answer["error_code"]:
        said = answer["error_message"] or error_name(answer["error_code"])
        raise Stuck(f"SaslAuthenticate was refused: {said}")
    return bytes(answer["auth_bytes"])
