"""ACLs of principals that checks name: entries, filters, what becomes of them."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped

UNKNOWN: Final = 0
ANY: Final = 1
"""In each field of an entry: no value, and each value."""

TOPIC: Final = 2
GROUP: Final = 3
CLUSTER: Final = 4
TRANSACTIONAL_ID: Final = 5
"""Types of resources (ResourceType)."""

MATCH: Final = 2
LITERAL: Final = 3
PREFIXED: Final = 4
"""Types of patterns (PatternType)."""

READ: Final = 3
WRITE: Final = 4
DESCRIBE: Final = 8
"""Operations (AclOperation)."""

DENY: Final = 2
ALLOW: Final = 3
"""Permissions (AclPermissionType)."""

ACLS: Final = {"CreateAcls": 0, "DescribeAcls": 0, "DeleteAcls": 0}
"""What checks of ACLs need."""

DISABLED: Final = "SECURITY_DISABLED"


async def principal(broker: Broker, *, authorizer: bool = True) -> str:
    """Return the principal of a user of the check's own, whose ACLs are deleted at the end.

    Raises:
        Skipped: the broker has no authorizer, or has one though the check needs a broker without.
    """
    user = f"User:{broker.name('user')}"
    error = (await described(broker, acl_filter(user)))["error_code"]
    if (error != DISABLED) != authorizer:
        raise Skipped(f"the broker has {'no' if authorizer else 'an'} authorizer: {error}")
    return user


def acl(user: str, **fields: Any) -> dict[str, Any]:
    """Return an entry of CreateAcls: a user may read a topic of its name, but for some fields."""
    return {
        "resource_type": TOPIC,
        "resource_name": user.removeprefix("User:"),
        "resource_pattern_type": LITERAL,
        "principal": user,
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
        **fields,
    }


def acl_filter(user: str, **fields: Any) -> dict[str, Any]:
    """Return a filter that matches all ACLs of a user, but for some fields."""
    return {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": user,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
        **fields,
    }


async def create(broker: Broker, *entries: dict[str, Any]) -> Response:
    """Create ACLs, and return the response."""
    return await broker.send("CreateAcls", creations=list(entries))


async def add(broker: Broker, *entries: dict[str, Any]) -> None:
    """Create ACLs, which must be accepted."""
    response = await create(broker, *entries)
    for index in range(len(entries)):
        response.at(f"results[{index}]").expect(error_code="NONE")


async def described(broker: Broker, condition: dict[str, Any]) -> Response:
    """Describe the ACLs that match a filter."""
    return await broker.send("DescribeAcls", **condition)


async def becomes(broker: Broker, condition: dict[str, Any], *entries: dict[str, Any]) -> None:
    """Expect that exactly some ACLs match a filter, after a while at the latest. Raises Failed."""
    expected = sorted(map(_text, entries))
    deadline = await Now() + SETTLE_S
    while True:
        response = (await described(broker, condition)).expect(error_code="NONE")
        received = sorted(
            _text(
                {
                    **row,
                    "resource_type": resource["resource_type"],
                    "resource_name": resource["resource_name"],
                    "resource_pattern_type": resource.get("pattern_type", LITERAL),
                }
            )
            for resource in response["resources"]
            for row in resource["acls"]
        )
        if received == expected:
            return
        if await Now() > deadline:
            raise response.failed("resources", "; ".join(expected), "; ".join(received) or "none")
        await Sleep(0.05)


def _text(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name} {entry[name]}" for name in sorted(entry))
