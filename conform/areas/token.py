"""Delegation tokens (KIP-48): created, described, renewed, expired; refused without a login."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.expectations import AtLeast, OneOf
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.users import without_login
from barnabas.conform.verdicts import Skipped

KIP: Final = "KIP-48"

LIFETIME_MS: Final = 60_000
"""The longest life of tokens: an interrupted check leaves none behind."""

REFUSED: Final = OneOf("DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", "DELEGATION_TOKEN_AUTH_DISABLED")
NOT_FOUND: Final = "DELEGATION_TOKEN_NOT_FOUND"

EXPIRE_NOW: Final = -1
"""A period that expires a token at once."""


async def _refused(broker: Broker, api: str, **fields: Any) -> None:
    """Expect that a request about tokens is refused on a listener without login."""
    without_login(broker)
    (await broker.send(api, **fields)).expect(error_code=REFUSED)


@check("token/create-without-login", KIP, needs={"CreateDelegationToken": 0})
async def create_without_login(broker: Broker) -> None:
    """CreateDelegationToken of a client that has not logged in is refused."""
    await _refused(broker, "CreateDelegationToken", renewers=[], max_lifetime_ms=LIFETIME_MS)


@check("token/describe-without-login", KIP, needs={"DescribeDelegationToken": 0})
async def describe_without_login(broker: Broker) -> None:
    """DescribeDelegationToken of a client that has not logged in is refused."""
    await _refused(broker, "DescribeDelegationToken", owners=None)


@check("token/renew-without-login", KIP, needs={"RenewDelegationToken": 0})
async def renew_without_login(broker: Broker) -> None:
    """RenewDelegationToken of a client that has not logged in is refused."""
    await _refused(broker, "RenewDelegationToken", hmac=b"none such", renew_period_ms=1000)


@check("token/expire-without-login", KIP, needs={"ExpireDelegationToken": 0})
async def expire_without_login(broker: Broker) -> None:
    """ExpireDelegationToken of a client that has not logged in is refused."""
    await _refused(
        broker, "ExpireDelegationToken", hmac=b"none such", expiry_time_period_ms=EXPIRE_NOW
    )


TOKENS: Final = {
    "CreateDelegationToken": 0,
    "DescribeDelegationToken": 0,
    "RenewDelegationToken": 0,
    "ExpireDelegationToken": 0,
}


async def _create(broker: Broker, **fields: Any) -> Response:
    """Create a token of the user who is logged in. Raises Skipped if the broker has no tokens."""
    assert broker.credentials  # noqa: S101
    response = await broker.send(
        "CreateDelegationToken",
        **{
            "owner_principal_type": None,
            "owner_principal_name": None,
            "renewers": [],
            "max_lifetime_ms": LIFETIME_MS,
            **fields,
        },
    )
    if response["error_code"] == "DELEGATION_TOKEN_AUTH_DISABLED":
        raise Skipped("delegation tokens are disabled: set delegation.token.secret.key")
    return response


async def _new_token(broker: Broker) -> Response:
    """Return a new token that the broker describes."""
    token = (await _create(broker)).expect(error_code="NONE")
    await _described(broker, token["token_id"])
    return token


async def _described(broker: Broker, token_id: str, *, expected: bool = True) -> Response | None:
    """Return a token's part of a description, or None; wait for what is expected."""
    owners = [{"principal_type": "User", "principal_name": broker.credentials.username}]
    deadline = await Now() + SETTLE_S
    while True:
        response = await broker.send("DescribeDelegationToken", owners=owners)
        response.expect(error_code="NONE")
        ids = [row["token_id"] for row in response["tokens"]]
        if (token_id in ids) == expected:
            return response.at(f"tokens[{ids.index(token_id)}]") if expected else None
        if await Now() > deadline:
            word = "a token" if expected else "no token"
            raise response.failed("tokens", f"{word} {token_id}", f"{ids}")
        await Sleep(0.05)


async def _expire(broker: Broker, token: Response) -> Response:
    response = await broker.send(
        "ExpireDelegationToken", hmac=token["hmac"], expiry_time_period_ms=EXPIRE_NOW
    )
    return response.expect(error_code="NONE")


@check("token/create-describe", KIP, needs=TOKENS)
async def create_describe(broker: Broker) -> None:
    """A new token is described with owner, key, times and renewers."""
    renewer = {"principal_type": "User", "principal_name": broker.name("user")}
    token = (await _create(broker, renewers=[renewer])).expect(
        error_code="NONE", principal_type="User", principal_name=broker.credentials.username
    )
    part = await _described(broker, token["token_id"])
    assert part is not None  # noqa: S101
    part.expect(
        principal_name=broker.credentials.username,
        issue_timestamp=token["issue_timestamp_ms"],
        expiry_timestamp=token["expiry_timestamp_ms"],
        max_timestamp=token["max_timestamp_ms"],
        hmac=token["hmac"],
        renewers=[renewer],
    )
    await _expire(broker, token)


@check("token/lifetime", KIP, needs=TOKENS)
async def lifetime(broker: Broker) -> None:
    """A token lives at most as long as the request allows."""
    token = await _new_token(broker)
    issued = token["issue_timestamp_ms"]
    token.expect(max_timestamp_ms=issued + LIFETIME_MS)
    if not issued < token["expiry_timestamp_ms"] <= token["max_timestamp_ms"]:
        latest = f"at most {token['max_timestamp_ms']}"
        raise token.failed("expiry_timestamp_ms", latest, f"{token['expiry_timestamp_ms']}")
    await _expire(broker, token)


@check("token/renew", KIP, needs=TOKENS)
async def renew(broker: Broker) -> None:
    """A renewal sets the expiry to the given period, at most to the longest life."""
    token = await _new_token(broker)
    response = await broker.send("RenewDelegationToken", hmac=token["hmac"], renew_period_ms=20_000)
    response.expect(error_code="NONE", expiry_timestamp_ms=AtLeast(token["issue_timestamp_ms"]))
    if response["expiry_timestamp_ms"] >= token["max_timestamp_ms"]:
        received = f"{response['expiry_timestamp_ms']}"
        raise response.failed("expiry_timestamp_ms", f"below {token['max_timestamp_ms']}", received)
    response = await broker.send(
        "RenewDelegationToken", hmac=token["hmac"], renew_period_ms=1 << 40
    )
    response.expect(error_code="NONE", expiry_timestamp_ms=token["max_timestamp_ms"])
    await _expire(broker, token)


@check("token/expire", KIP, needs=TOKENS)
async def expire(broker: Broker) -> None:
    """A token that is expired at once is not described any more, and can't be renewed."""
    token = await _new_token(broker)
    await _expire(broker, token)
    await _described(broker, token["token_id"], expected=False)
    response = await broker.send("RenewDelegationToken", hmac=token["hmac"], renew_period_ms=1000)
    response.expect(error_code=NOT_FOUND)


@check("token/renew-unknown", KIP, needs=TOKENS)
async def renew_unknown(broker: Broker) -> None:
    """The renewal of an unknown token gets DELEGATION_TOKEN_NOT_FOUND."""
    await _expire(broker, await _new_token(broker))
    response = await broker.send("RenewDelegationToken", hmac=b"none such", renew_period_ms=1000)
    response.expect(error_code=NOT_FOUND)


@check("token/expire-unknown", KIP, needs=TOKENS)
async def expire_unknown(broker: Broker) -> None:
    """The expiry of an unknown token gets DELEGATION_TOKEN_NOT_FOUND."""
    await _expire(broker, await _new_token(broker))
    response = await broker.send(
        "ExpireDelegationToken", hmac=b"none such", expiry_time_period_ms=EXPIRE_NOW
    )
    response.expect(error_code=NOT_FOUND)


@check("token/renewer-type", KIP, level=SHOULD, needs=TOKENS)
async def renewer_type(broker: Broker) -> None:
    """A renewer that is not a user gets INVALID_PRINCIPAL_TYPE."""
    renewer = {"principal_type": "Group", "principal_name": broker.name("user")}
    response = await _create(broker, renewers=[renewer])
    response.expect(error_code="INVALID_PRINCIPAL_TYPE")


CHECKS: Final[tuple[Check, ...]] = (
    create_without_login,
    describe_without_login,
    renew_without_login,
    expire_without_login,
    create_describe,
    lifetime,
    renew,
    expire,
    renew_unknown,
    expire_unknown,
    renewer_type,
)
