"""Sessions of SASL (KIP-368): they end, and a new login renews them."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, Check, check
from barnabas.conform.connection import Connection
from barnabas.conform.expectations import AtLeast, Not
from barnabas.conform.operations import Sleep
from barnabas.conform.users import (
    USERS,
    expect_login,
    expect_refused,
    handshake,
    log_in,
    logged_in,
    new_user,
)
from barnabas.conform.verdicts import Skipped
from barnabas.peers.replay.authentication import Credentials

SESSIONS: Final = {"SaslHandshake": 1, "SaslAuthenticate": 1}

SESSION_S: Final = 20.0
"""Longer sessions are not waited for."""


async def _session(broker: Broker, user: Credentials) -> tuple[Connection, float]:
    """Return a connection with a session that ends soon, and its lifetime in seconds."""
    connection, response = await logged_in(broker, user)
    seconds = response["session_lifetime_ms"] / 1000
    if not 0 < seconds <= SESSION_S:
        limit = f"{seconds:g} s" if seconds else "unlimited"
        raise Skipped(f"sessions are {limit}: set connections.max.reauth.ms to 15000")
    return connection, seconds


@check("sasl/session-expired", "KIP-368", needs=SESSIONS)
async def session_expired(broker: Broker) -> None:
    """A request after the end of the session is not answered: the broker closes the connection."""
    connection, seconds = await _session(broker, broker.credentials)
    await expect_login(connection)
    await Sleep(seconds + 0.5)
    await connection.write("Metadata", topics=[], allow_auto_topic_creation=False)
    await connection.expect_closed()


@check("sasl/session-renewed", "KIP-368", needs=SESSIONS)
async def session_renewed(broker: Broker) -> None:
    """A new login before the end of the session lets the connection go on."""
    connection, seconds = await _session(broker, broker.credentials)
    await Sleep(seconds * 0.7)
    response = await log_in(broker, connection, broker.credentials)
    response.expect(error_code="NONE", session_lifetime_ms=AtLeast(1))
    await Sleep(seconds * 0.7)
    await expect_login(connection)


@check("sasl/session-other-user", "KIP-368", needs={**USERS, "SaslAuthenticate": 1})
async def session_other_user(broker: Broker) -> None:
    """A new login as another user gets SASL_AUTHENTICATION_FAILED; then the broker closes the connection."""
    first, second = await new_user(broker), await new_user(broker)
    await logged_in(broker, second)
    connection, _ = await _session(broker, first)
    await expect_refused(connection, await log_in(broker, connection, second))


@check("sasl/session-unlimited", "KIP-368", level=INFO, needs=SESSIONS)
async def session_unlimited(broker: Broker) -> None:
    """If sessions have no end, a second handshake gets an error, and the connection goes on."""
    connection, response = await logged_in(broker, broker.credentials)
    if response["session_lifetime_ms"]:
        raise Skipped("sessions end after a time")
    response = await handshake(connection, broker.credentials.mechanism)
    response.expect(error_code=Not("NONE"))
    await expect_login(connection)


CHECKS: Final[tuple[Check, ...]] = (
    session_expired,
    session_renewed,
    session_other_user,
    session_unlimited,
)
