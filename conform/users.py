"""Users of SCRAM that checks create, and connections that log in as them."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.login import HANDSHAKE, authenticate, no_login
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped
from barnabas.peers.replay.authentication import HASHES, Credentials

NUMBERS: Final = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
"""The numbers of mechanisms (ScramMechanism)."""

ITERATIONS: Final = 4096
"""The fewest iterations that SCRAM allows."""

PASSWORD: Final = "barnabas"  # noqa: S105  # of users that exist during one check
SALT: Final = b"salt of a check"

REFUSED: Final = "SASL_AUTHENTICATION_FAILED"

USERS: Final = {"SaslHandshake": 1, "SaslAuthenticate": 0, "AlterUserScramCredentials": 0}
"""What checks with users of their own need."""


def upsertion(user: str, mechanism: str = "SCRAM-SHA-256", **fields: Any) -> dict[str, Any]:
    """Return the entry of AlterUserScramCredentials that creates a credential."""
    iterations = fields.get("iterations", ITERATIONS)
    password = hashlib.pbkdf2_hmac(HASHES[mechanism], PASSWORD.encode(), SALT, iterations)
    return {
        "name": user,
        "mechanism": NUMBERS[mechanism],
        "iterations": iterations,
        "salt": SALT,
        "salted_password": password,
        **fields,
    }


async def new_user(broker: Broker, mechanism: str = "SCRAM-SHA-256") -> Credentials:
    """Create a user of SCRAM, and return its credentials.

    Raises:
        Skipped: the run has no SASL or may not create users, or the listener does not offer the mechanism.
    """
    if broker.credentials.mechanism != mechanism:
        response = await handshake(await unauthenticated(broker), mechanism)
        if response["error_code"] != "NONE":
            raise Skipped(f"the listener does not offer {mechanism}")
    user = broker.name("user")
    response = await broker.send(
        "AlterUserScramCredentials", deletions=[], upsertions=[upsertion(user, mechanism)]
    )
    result = response.at("results[0]")
    if result["error_code"] == "CLUSTER_AUTHORIZATION_FAILED":
        raise Skipped("the run may not create users")
    result.expect(error_code="NONE")
    return Credentials(mechanism, user, PASSWORD)


async def unauthenticated(broker: Broker) -> Connection:
    """Open a connection that has not logged in. Raises Skipped if the run has no SASL."""
    assert broker.credentials  # noqa: S101
    return await broker.connect(login=no_login)


def without_login(broker: Broker) -> None:
    """Raise Skipped if the run logs in, since its listener has SASL."""
    if broker.login.credentials is not None:
        raise Skipped("the run logs in: the listener has SASL")


async def handshake(connection: Connection, mechanism: str) -> Response:
    """Choose a mechanism, and return the response."""
    return await connection.send("SaslHandshake", HANDSHAKE, mechanism=mechanism)


async def log_in(
    broker: Broker, connection: Connection, credentials: Credentials, version: int | None = None
) -> Response:
    """Log in on a connection, and return the last response, which may have an error."""
    return await authenticate(connection, credentials, f"{broker.prefix}-nonce", version)


async def logged_in(broker: Broker, credentials: Credentials) -> tuple[Connection, Response]:
    """Return a connection that has logged in, and the response to the last token.

    A user that has just been created may be unknown for a while.
    """
    deadline = await Now() + SETTLE_S
    while True:
        connection = await unauthenticated(broker)
        response = await log_in(broker, connection, credentials)
        if response["error_code"] == "NONE" or await Now() > deadline:
            return connection, response.expect(error_code="NONE")
        await Sleep(0.1)


async def expect_login(connection: Connection) -> None:
    """Expect that a connection has logged in: the broker answers Metadata. Raises Failed."""
    await connection.send("Metadata", topics=[], allow_auto_topic_creation=False)


async def expect_refused(connection: Connection, response: Response) -> None:
    """Expect that a login failed, and that the broker closes the connection. Raises Failed."""
    response.expect(error_code=REFUSED)
    await connection.expect_closed()
