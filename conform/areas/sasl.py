"""SASL: mechanisms, logins by PLAIN and SCRAM, requests before the login."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.connection import SETTLE_S, TIMEOUT_S, Connection
from barnabas.conform.operations import Now, Read, Sleep
from barnabas.conform.users import (
    REFUSED,
    USERS,
    expect_login,
    expect_refused,
    handshake,
    log_in,
    logged_in,
    new_user,
    unauthenticated,
    without_login,
)
from barnabas.conform.verdicts import Failed, Skipped
from barnabas.peers.replay.authentication import tokens_of

SASL: Final = {"SaslHandshake": 1, "SaslAuthenticate": 0}

WRONG: Final = "wrong"
"""A password that no user has."""


async def _plain(broker: Broker) -> Connection:
    """Return a connection that has chosen PLAIN. Raises Skipped if the listener does not offer it."""
    connection = await unauthenticated(broker)
    if (await handshake(connection, "PLAIN"))["error_code"] != "NONE":
        raise Skipped("the listener does not offer PLAIN")
    return connection


@check("sasl/handshake-without-sasl", "KafkaApis", level=SHOULD, needs={"SaslHandshake": 0})
async def handshake_without_sasl(broker: Broker) -> None:
    """SaslHandshake on a listener without SASL gets ILLEGAL_SASL_STATE."""
    without_login(broker)
    response = await broker.send("SaslHandshake", mechanism="PLAIN")
    response.expect(error_code="ILLEGAL_SASL_STATE")


@check("sasl/authenticate-without-sasl", "KafkaApis", level=SHOULD, needs={"SaslAuthenticate": 0})
async def authenticate_without_sasl(broker: Broker) -> None:
    """SaslAuthenticate on a listener without SASL gets ILLEGAL_SASL_STATE."""
    without_login(broker)
    response = await broker.send("SaslAuthenticate", auth_bytes=b"\0user\0password")
    response.expect(error_code="ILLEGAL_SASL_STATE")


@check("sasl/required", "SaslServerAuthenticator", needs=SASL)
async def required(broker: Broker) -> None:
    """A request before the login is not answered: the broker closes the connection."""
    connection = await unauthenticated(broker)
    await connection.write("Metadata", topics=[], allow_auto_topic_creation=False)
    await connection.expect_closed()


@check("sasl/authenticate-first", "KIP-152, SaslServerAuthenticator", needs=SASL)
async def authenticate_first(broker: Broker) -> None:
    """SaslAuthenticate without a handshake is not answered: the broker closes the connection."""
    connection = await unauthenticated(broker)
    await connection.write("SaslAuthenticate", auth_bytes=b"\0user\0password")
    await connection.expect_closed()


@check(
    "sasl/request-after-handshake",
    "KIP-152, SaslServerAuthenticator",
    level=SHOULD,
    needs={**SASL, "FindCoordinator": 0},
)
async def request_after_handshake(broker: Broker) -> None:
    """A request between handshake and login gets ILLEGAL_SASL_STATE; then the connection is closed."""
    connection = await unauthenticated(broker)
    (await handshake(connection, broker.credentials.mechanism)).expect(error_code="NONE")
    response = await connection.send("FindCoordinator", 0, key="group")
    response.expect(error_code="ILLEGAL_SASL_STATE")
    await connection.expect_closed()


@check("sasl/versions-before-login", "KIP-35, KIP-152", needs=SASL)
async def versions_before_login(broker: Broker) -> None:
    """ApiVersions is answered before the login, which may follow."""
    connection = await unauthenticated(broker)
    (await connection.send("ApiVersions", 0)).expect(error_code="NONE").at("api_keys[0]")
    (await log_in(broker, connection, broker.credentials)).expect(error_code="NONE")


@check("sasl/versions-after-login", "KIP-35", needs=SASL)
async def versions_after_login(broker: Broker) -> None:
    """ApiVersions is answered after the login with the versions that it lists before."""
    before = await (await unauthenticated(broker)).send("ApiVersions", 0)
    connection, _ = await logged_in(broker, broker.credentials)
    after = (await connection.send("ApiVersions", 0)).expect(error_code="NONE")
    after.expect(api_keys=before["api_keys"])


@check("sasl/mechanism-unknown", "KIP-43", needs=SASL)
async def mechanism_unknown(broker: Broker) -> None:
    """An unknown mechanism gets UNSUPPORTED_SASL_MECHANISM and the list of the enabled ones."""
    response = await handshake(await unauthenticated(broker), "NONE-SUCH")
    response.expect(error_code="UNSUPPORTED_SASL_MECHANISM")
    mechanism = broker.credentials.mechanism
    if mechanism not in response["mechanisms"]:
        raise response.failed("mechanisms", f"{mechanism} among them", f"{response['mechanisms']}")


@check("sasl/mechanisms-listed", "KIP-43, SaslHandshakeResponse.json", needs=SASL)
async def mechanisms_listed(broker: Broker) -> None:
    """A handshake with an enabled mechanism gets NONE and the list of the enabled ones."""
    mechanism = broker.credentials.mechanism
    response = await handshake(await unauthenticated(broker), mechanism)
    response.expect(error_code="NONE")
    if mechanism not in response["mechanisms"]:
        raise response.failed("mechanisms", f"{mechanism} among them", f"{response['mechanisms']}")


@check("sasl/login", "KIP-152, RFC 4616", needs=SASL, each="SaslAuthenticate")
async def login(broker: Broker) -> None:
    """The right password gets NONE, and then requests are answered."""
    connection, response = await logged_in(broker, broker.credentials)
    response.expect(error_code="NONE")
    await expect_login(connection)


@check("sasl/password-wrong", "KIP-152", needs=SASL)
async def password_wrong(broker: Broker) -> None:
    """A wrong password gets SASL_AUTHENTICATION_FAILED; then the broker closes the connection."""
    connection = await unauthenticated(broker)
    credentials = replace(broker.credentials, password=WRONG)
    await expect_refused(connection, await log_in(broker, connection, credentials))


@check("sasl/user-unknown", "SaslServerAuthenticator", level=SHOULD, needs=SASL)
async def user_unknown(broker: Broker) -> None:
    """An unknown user gets the error and the message of a wrong password."""
    messages = []
    for changes in ({"password": WRONG}, {"username": broker.name("user")}):
        connection = await unauthenticated(broker)
        response = await log_in(broker, connection, replace(broker.credentials, **changes))
        response.expect(error_code=REFUSED)
        messages.append(response["error_message"])
    if messages[0] != messages[1]:
        raise response.failed("error_message", repr(messages[0]), repr(messages[1]))


@check("sasl/plain-empty", "RFC 4616", needs=SASL)
async def plain_empty(broker: Broker) -> None:
    """An empty user name of PLAIN gets SASL_AUTHENTICATION_FAILED."""
    connection = await _plain(broker)
    response = await connection.send("SaslAuthenticate", auth_bytes=b"\0\0password")
    await expect_refused(connection, response)


@check("sasl/plain-unreadable", "RFC 4616", needs=SASL)
async def plain_unreadable(broker: Broker) -> None:
    """A token of PLAIN without separators gets SASL_AUTHENTICATION_FAILED."""
    connection = await _plain(broker)
    await expect_refused(connection, await connection.send("SaslAuthenticate", auth_bytes=b"user"))


@check("sasl/plain-other-identity", "RFC 4616, PlainSaslServer", needs=SASL)
async def plain_other_identity(broker: Broker) -> None:
    """PLAIN with the right password and another authorization identity gets SASL_AUTHENTICATION_FAILED."""
    connection = await _plain(broker)
    if broker.credentials.mechanism != "PLAIN":
        raise Skipped("the run does not log in by PLAIN")
    token = b"another" + next(tokens_of(broker.credentials, ""))
    await expect_refused(connection, await connection.send("SaslAuthenticate", auth_bytes=token))


@check("sasl/handshake-v0", "KIP-43", needs={**SASL, "SaslHandshake": 0})
async def handshake_v0(broker: Broker) -> None:
    """After SaslHandshake v0 tokens are sent as frames without headers."""
    broker.version("SaslHandshake", 0, 0)
    connection = await unauthenticated(broker)
    credentials = broker.credentials
    response = await connection.send("SaslHandshake", 0, mechanism=credentials.mechanism)
    response.expect(error_code="NONE")
    tokens = tokens_of(credentials, f"{broker.prefix}-nonce")
    token = next(tokens)
    try:
        while True:
            await connection.raw(struct.pack(">i", len(token)) + token)
            answer = await Read(connection.number, TIMEOUT_S)
            if answer is None:
                raise Failed("connection", "a token", "closed")
            token = tokens.send(answer)
    except StopIteration:
        await expect_login(connection)


async def _scram(broker: Broker, mechanism: str) -> None:
    """Log in by SCRAM as a user of the check, whose wrong password is refused."""
    user = await new_user(broker, mechanism)
    connection, _ = await logged_in(broker, user)
    await expect_login(connection)
    connection = await unauthenticated(broker)
    response = await log_in(broker, connection, replace(user, password=WRONG))
    await expect_refused(connection, response)


@check("sasl/scram-256", "RFC 5802, RFC 7677, KIP-84", needs=USERS)
async def scram_256(broker: Broker) -> None:
    """SCRAM-SHA-256 lets in a user with the right password, with the broker's proof, and no others."""
    await _scram(broker, "SCRAM-SHA-256")


@check("sasl/scram-512", "RFC 5802, KIP-84", needs=USERS)
async def scram_512(broker: Broker) -> None:
    """SCRAM-SHA-512 lets in a user with the right password, with the broker's proof, and no others."""
    await _scram(broker, "SCRAM-SHA-512")


@check("sasl/scram-deleted", "KIP-554", needs=USERS)
async def scram_deleted(broker: Broker) -> None:
    """A user whose SCRAM credential was deleted is refused."""
    user = await new_user(broker)
    await logged_in(broker, user)
    deletion = {"name": user.username, "mechanism": 1}
    response = await broker.send("AlterUserScramCredentials", deletions=[deletion], upsertions=[])
    response.at("results[0]").expect(error_code="NONE")
    deadline = await Now() + SETTLE_S
    while True:
        connection = await unauthenticated(broker)
        response = await log_in(broker, connection, user)
        if response["error_code"] == REFUSED or await Now() > deadline:
            break
        await Sleep(0.1)
    await expect_refused(connection, response)


CHECKS: Final[tuple[Check, ...]] = (
    handshake_without_sasl,
    authenticate_without_sasl,
    required,
    authenticate_first,
    request_after_handshake,
    versions_before_login,
    versions_after_login,
    mechanism_unknown,
    mechanisms_listed,
    login,
    password_wrong,
    user_unknown,
    plain_empty,
    plain_unreadable,
    plain_other_identity,
    handshake_v0,
    scram_256,
    scram_512,
    scram_deleted,
)
