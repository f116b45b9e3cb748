"""Authentication of a check's connections: SASL PLAIN and SCRAM."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from barnabas.conform.connection import Connection
from barnabas.conform.operations import Unreachable
from barnabas.conform.response import Response
from barnabas.peers.replay.authentication import AuthenticationError, Credentials, tokens_of

HANDSHAKE: Final = 1
"""The version of SaslHandshake after which tokens are sent in SaslAuthenticate (KIP-152)."""


@dataclass(frozen=True, slots=True)
class Login:
    """Authenticates a new connection."""

    credentials: Credentials | None = None
    """None: the listener needs no authentication."""

    async def __call__(self, connection: Connection) -> None:
        """Authenticate a connection.

        Raises:
            Unreachable: the broker refuses.
            Failed: the broker sends no valid response.
        """
        if self.credentials is None:
            return
        response = await authenticate(connection, self.credentials, secrets.token_urlsafe(24))
        if response["error_code"] == "NONE":
            return
        if response.request.api == "SaslHandshake":
            offered = ", ".join(response["mechanisms"]) or "none"
            mechanism = self.credentials.mechanism
            raise Unreachable(f"no SASL mechanism {mechanism}; the broker offers {offered}")
        raise Unreachable(f"not authenticated: {response['error_message']}")


no_login: Final = Login()
"""Sends nothing: the listener needs no authentication."""


async def authenticate(
    connection: Connection, credentials: Credentials, nonce: str, version: int | None = 0
) -> Response:
    """Authenticate a connection by SASL, and return the last response, which may have an error.

    Args:
        connection: the connection.
        credentials: with the mechanism.
        nonce: the client's random text, for SCRAM.
        version: the version of SaslAuthenticate; None: the newest offered.

    Raises:
        Failed: the broker's token is not valid, or there is no response.
    """
    tokens = tokens_of(credentials, nonce)
    response = await connection.send("SaslHandshake", HANDSHAKE, mechanism=credentials.mechanism)
    token = next(tokens)
    try:
        while response["error_code"] == "NONE":
            response = await connection.send("SaslAuthenticate", version, auth_bytes=token)
            if response["error_code"] == "NONE":
                token = tokens.send(response["auth_bytes"])
    except StopIteration:
        pass
    except AuthenticationError as problem:
        raise response.failed("auth_bytes", "a valid token", str(problem)) from None
    return response
