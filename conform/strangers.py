"""Users without rights on a listener with SASL, and what an authorizer answers them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from barnabas.conform.acls import ACLS, acl_filter, add, becomes, principal
from barnabas.conform.broker import Broker
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.expectations import matches
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.users import USERS, logged_in, new_user
from barnabas.conform.verdicts import Skipped

STRANGERS: Final = {**USERS, **ACLS, "Metadata": 1, "CreateTopics": 0}
"""What checks with users without rights need."""

TOPIC_DENIED: Final = "TOPIC_AUTHORIZATION_FAILED"
GROUP_DENIED: Final = "GROUP_AUTHORIZATION_FAILED"
TRANSACTIONAL_ID_DENIED: Final = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"


async def stranger(broker: Broker, topic: str) -> tuple[str, Connection]:
    """Return the principal and a connection of a new user, who may not even describe a topic.

    Raises:
        Skipped: the broker has no authorizer, or it allows everything without ACLs.
    """
    await principal(broker)
    user = await new_user(broker)
    connection, _ = await logged_in(broker, user)
    if (await topic_metadata(connection, topic))["error_code"] == "NONE":
        raise Skipped("the authorizer allows what no ACL forbids")
    return f"User:{user.username}", connection


async def topic_metadata(connection: Connection, topic: str) -> Response:
    """Return a topic's part of a Metadata response."""
    response = await connection.send(
        "Metadata", topics=[{"name": topic}], allow_auto_topic_creation=False
    )
    return response.at("topics[0]")


async def grant(broker: Broker, user: str, *entries: dict[str, Any]) -> None:
    """Create ACLs, and wait until they are all that the broker describes of a user."""
    await add(broker, *entries)
    await becomes(broker, acl_filter(user), *entries)


async def settles(send: Callable[[], Awaitable[Response]], expected: Any) -> None:
    """Repeat a request until its error code is as expected, for a while at most. Raises Failed."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await send()
        if matches(expected, response["error_code"]) or await Now() > deadline:
            response.expect(error_code=expected)
            return
        await Sleep(0.05)
