"""Authentication of a check's connections: SASL PLAIN and SCRAM."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Final

from barnabas.conform.connection import Connection
from barnabas.conform.operations import Unreachable
from barnabas.peers.replay.authentication import AuthenticationError, Credentials, tokens_of

Login = Callable[[Connection], Awaitable[None]]
"""Authenticates a new connection."""

HANDSHAKE: Final = 1
"""The version of SaslHandshake after which tokens are sent in SaslAuthenticate (KIP-152)."""


async def no_login(connection: Connection) -> None:
    """Do nothing: the listener needs no authentication."""


def sasl(credentials: Credentials) -> Login:
    """Return a login by SASL."""

    async def login(connection: Connection) -> None:
        answer = await connection.send("SaslHandshake", HANDSHAKE, mechanism=credentials.mechanism)
        if answer["error_code"] != "NONE":
            offered = ", ".join(answer["mechanisms"])
            raise Unreachable(f"the broker offers no {credentials.mechanism}, but {offered}")
        tokens = tokens_of(credentials, secrets.token_urlsafe(24))
        try:
            token = next(tokens)
            while True:
                answer = await connection.send("SaslAuthenticate", 0, auth_bytes=token)
                if answer["error_code"] != "NONE":
                    raise Unreachable(f"not authenticated: {answer['error_message']}")
                token = tokens.send(answer["auth_bytes"])
        except StopIteration:
            return
        except AuthenticationError as problem:
            raise Unreachable(str(problem)) from None

    return login
