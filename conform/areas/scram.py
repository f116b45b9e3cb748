"""SCRAM credentials (KIP-554): invalid ones, several in a request, changes."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.users import ITERATIONS, NUMBERS, upsertion

KIP: Final = "KIP-554"
NEEDS: Final = {"AlterUserScramCredentials": 0, "DescribeUserScramCredentials": 0}

MOST: Final = 16384
"""The most iterations that Kafka takes (ScramMechanism)."""

SHA_256: Final = NUMBERS["SCRAM-SHA-256"]
SHA_512: Final = NUMBERS["SCRAM-SHA-512"]


async def _alter(
    broker: Broker, *upsertions: dict[str, Any], deletions: tuple[dict[str, Any], ...] = ()
) -> Response:
    return await broker.send(
        "AlterUserScramCredentials", deletions=list(deletions), upsertions=list(upsertions)
    )


async def _refused(broker: Broker, error: str, **fields: Any) -> None:
    """Expect that a credential with some other fields gets an error."""
    response = await _alter(broker, {**upsertion(broker.name("user")), **fields})
    response.at("results[0]").expect(error_code=error)


async def _becomes(broker: Broker, user: str, expected: dict[int, int]) -> None:
    """Expect a user's mechanisms and iterations, after a while at the latest. Raises Failed."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await broker.send("DescribeUserScramCredentials", users=[{"name": user}])
        result = response.at("results[0]").expect(user=user)
        rows = result["credential_infos"]
        if {row["mechanism"]: row["iterations"] for row in rows} == expected:
            result.expect(error_code="NONE" if expected else "RESOURCE_NOT_FOUND")
            return
        if await Now() > deadline:
            raise result.failed("credential_infos", f"{expected}", f"{rows}")
        await Sleep(0.05)


@check("scram/replace", KIP, needs=NEEDS)
async def replace(broker: Broker) -> None:
    """A second credential of a user's mechanism replaces the first one."""
    user = broker.name("user")
    for iterations in (ITERATIONS, ITERATIONS + 1):
        response = await _alter(broker, upsertion(user, iterations=iterations))
        response.at("results[0]").expect(error_code="NONE", user=user)
        await _becomes(broker, user, {SHA_256: iterations})


@check("scram/two-mechanisms", KIP, needs=NEEDS)
async def two_mechanisms(broker: Broker) -> None:
    """A user may have credentials of both mechanisms, of which one is deleted alone."""
    user = broker.name("user")
    for mechanism in NUMBERS:
        response = await _alter(broker, upsertion(user, mechanism))
        response.at("results[0]").expect(error_code="NONE")
    await _becomes(broker, user, {SHA_256: ITERATIONS, SHA_512: ITERATIONS})
    response = await _alter(broker, deletions=({"name": user, "mechanism": SHA_256},))
    response.at("results[0]").expect(error_code="NONE")
    await _becomes(broker, user, {SHA_512: ITERATIONS})


@check("scram/delete", KIP, needs=NEEDS)
async def delete(broker: Broker) -> None:
    """A user whose only credential is deleted is unknown; a second deletion gets RESOURCE_NOT_FOUND."""
    user = broker.name("user")
    (await _alter(broker, upsertion(user))).at("results[0]").expect(error_code="NONE")
    await _becomes(broker, user, {SHA_256: ITERATIONS})
    for error in ("NONE", "RESOURCE_NOT_FOUND"):
        response = await _alter(broker, deletions=({"name": user, "mechanism": SHA_256},))
        response.at("results[0]").expect(error_code=error)
    await _becomes(broker, user, {})


@check("scram/several-users", KIP, needs=NEEDS)
async def several_users(broker: Broker) -> None:
    """An invalid credential does not affect other users' credentials in its request."""
    good, bad = broker.name("user"), broker.name("user")
    response = await _alter(broker, upsertion(bad, iterations=1), upsertion(good))
    errors = {row["user"]: row["error_code"] for row in response["results"]}
    for index, row in enumerate(response["results"]):
        error = "NONE" if row["user"] == good else "UNACCEPTABLE_CREDENTIAL"
        response.at(f"results[{index}]").expect(error_code=error)
    if errors.keys() != {good, bad}:
        raise response.failed("results", f"{good} and {bad}", f"{sorted(errors)}")
    await _becomes(broker, good, {SHA_256: ITERATIONS})


@check("scram/describe-all", KIP, needs=NEEDS)
async def describe_all(broker: Broker) -> None:
    """A null list of users describes all."""
    user = broker.name("user")
    (await _alter(broker, upsertion(user))).at("results[0]").expect(error_code="NONE")
    await _becomes(broker, user, {SHA_256: ITERATIONS})
    response = await broker.send("DescribeUserScramCredentials", users=None)
    response.expect(error_code="NONE")
    users = [row["user"] for row in response["results"]]
    if user not in users:
        raise response.failed("results", f"{user} among them", f"{users}")


@check("scram/describe-twice", KIP, needs=NEEDS)
async def describe_twice(broker: Broker) -> None:
    """A user who is named twice in a DescribeUserScramCredentials gets DUPLICATE_RESOURCE."""
    users = [{"name": broker.name("user")}] * 2
    response = await broker.send("DescribeUserScramCredentials", users=users)
    response.at("results[0]").expect(error_code="DUPLICATE_RESOURCE")


@check("scram/alter-twice", KIP, needs=NEEDS)
async def alter_twice(broker: Broker) -> None:
    """A credential that is named twice in an AlterUserScramCredentials gets DUPLICATE_RESOURCE."""
    user = broker.name("user")
    response = await _alter(broker, upsertion(user), upsertion(user))
    response.at("results[0]").expect(error_code="DUPLICATE_RESOURCE")
    await _becomes(broker, user, {})


@check("scram/mechanism-unknown", KIP, needs=NEEDS)
async def mechanism_unknown(broker: Broker) -> None:
    """A credential of an unknown mechanism gets UNSUPPORTED_SASL_MECHANISM."""
    await _refused(broker, "UNSUPPORTED_SASL_MECHANISM", mechanism=99)


@check("scram/many-iterations", "KIP-554, ScramMechanism", level=SHOULD, needs=NEEDS)
async def many_iterations(broker: Broker) -> None:
    """A credential with more than 16,384 iterations gets UNACCEPTABLE_CREDENTIAL."""
    await _refused(broker, "UNACCEPTABLE_CREDENTIAL", iterations=MOST + 1)


@check("scram/user-empty", KIP, needs=NEEDS)
async def user_empty(broker: Broker) -> None:
    """A credential of a user without name gets UNACCEPTABLE_CREDENTIAL."""
    await _refused(broker, "UNACCEPTABLE_CREDENTIAL", name="")


CHECKS: Final[tuple[Check, ...]] = (
    replace,
    two_mechanisms,
    delete,
    several_users,
    describe_all,
    describe_twice,
    alter_twice,
    mechanism_unknown,
    many_iterations,
    user_empty,
)
