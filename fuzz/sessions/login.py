"""The SASL login of a connection (KIP-43, KIP-152), with the first version of SaslAuthenticate."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.session import Request, Steps, Stuck
from barnabas.peers.replay.authentication import AuthenticationError, Credentials, tokens_of
from barnabas.specs import keys
from barnabas.specs.error_codes import error_name

USERNAME: Final = "barnabas"
PASSWORD: Final = "barnabas-secret"  # noqa: S105 (of a broker on loopback)
"""The password of the one user of a broker that a campaign starts."""

NAMED: Final = 1
"""The version of SaslHandshake after which tokens come in SaslAuthenticate; after v0 they come bare."""


def default_credentials(mechanism: str) -> Credentials:
    """Return the user's credentials for a mechanism."""
    return Credentials(mechanism, USERNAME, PASSWORD)


def nonce(number: int) -> str:
    """Return a client's nonce for SCRAM, of a fixed length.

    It need not be random: there is no secret to protect.
    """
    return f"fuzz{number % 1000000:06}"


def login(credentials: Credentials, number: int) -> Steps:
    """Log in. Raises Stuck if the broker refuses."""
    yield from handshake(credentials.mechanism)
    tokens = tokens_of(credentials, nonce(number))
    token = next(tokens)
    try:
        while True:
            token = tokens.send((yield from authenticate(token)))
    except StopIteration:
        return {}
    except AuthenticationError as problem:
        raise Stuck(str(problem)) from None


def handshake(mechanism: str, version: int = NAMED) -> Steps:
    """Name the mechanism. Raises Stuck."""
    answer = yield Request(keys.SASL_HANDSHAKE, version, {"mechanism": mechanism})
    if answer["error_code"]:
        error = error_name(answer["error_code"])
        raise Stuck(f"SaslHandshake for {mechanism} was answered with {error}")
    return {}


def authenticate(token: bytes) -> Generator[Request, Mapping[str, Any], bytes]:
    """Send a token and return the server's. Raises Stuck."""
    answer = yield Request(keys.SASL_AUTHENTICATE, 0, {"auth_bytes": token})
    if answer["error_code"]:
        error = answer["error_message"] or error_name(answer["error_code"])
        raise Stuck(f"SaslAuthenticate was refused: {error}")
    return bytes(answer["auth_bytes"])
