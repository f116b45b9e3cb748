"""Quotas of clients (KIP-546): set, described by filters, refused."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.expectations import Not
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.quotas import (
    CLIENT,
    CONSUMED,
    PRODUCED,
    QUOTAS,
    USER,
    Entity,
    alter_quota,
    components,
    set_quota,
)

KIP: Final = "KIP-546"

EXACT: Final = 0
DEFAULT: Final = 1
SPECIFIED: Final = 2
"""How a component of a filter matches: a name, the default entity, any name."""


async def _describe(broker: Broker, *conditions: tuple[str, int, str | None], strict: bool) -> Any:
    rows = [
        {"entity_type": kind, "match_type": how, "match": name} for kind, how, name in conditions
    ]
    return await broker.send("DescribeClientQuotas", components=rows, strict=strict)


async def _becomes(
    broker: Broker,
    *conditions: tuple[str, int, str | None],
    expected: list[tuple[Entity, dict[str, float]]],
    strict: bool = True,
) -> None:
    """Expect the quotas of the check's own entities, after a while at the latest. Raises Failed."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await _describe(broker, *conditions, strict=strict)
        response.expect(error_code="NONE")
        entries = [
            (
                {row["entity_type"]: row["entity_name"] for row in entry["entity"]},
                {row["key"]: row["value"] for row in entry["values"]},
            )
            for entry in response["entries"] or ()
        ]
        described = [
            (entity, values)
            for entity, values in entries
            if any((name or "").startswith(broker.prefix) for name in entity.values())
        ]
        if _sorted(described) == _sorted(expected):
            return
        if await Now() > deadline:
            raise response.failed("entries", f"{_sorted(expected)}", f"{_sorted(described)}")
        await Sleep(0.05)


def _sorted(entries: list[tuple[Entity, dict[str, float]]]) -> list[str]:
    return sorted(
        f"{sorted(entity.items())} {sorted(values.items())}" for entity, values in entries
    )


@check("quota/client-id", KIP, needs=QUOTAS)
async def client_id(broker: Broker) -> None:
    """Quotas of a client id are described, changed and removed one by one."""
    name = broker.name("client")
    entity = {CLIENT: name}
    await set_quota(broker, entity, 1000.0)
    await set_quota(broker, entity, 2000.0, CONSUMED)
    both = {PRODUCED: 1000.0, CONSUMED: 2000.0}
    await _becomes(broker, (CLIENT, EXACT, name), expected=[(entity, both)])
    await set_quota(broker, entity, 3000.0)
    (await alter_quota(broker, entity, key=CONSUMED, remove=True)).at("entries[0]").expect(
        error_code="NONE", entity=components(entity)
    )
    await _becomes(broker, (CLIENT, EXACT, name), expected=[(entity, {PRODUCED: 3000.0})])


async def _user_and_client(broker: Broker) -> tuple[Entity, Entity]:
    """Set a quota of a user, and one of the user with a client id."""
    user = {USER: broker.name("user")}
    both = {**user, CLIENT: broker.name("client")}
    for entity in (user, both):
        await set_quota(broker, entity, 1000.0)
    return user, both


@check("quota/strict", KIP, needs=QUOTAS)
async def strict(broker: Broker) -> None:
    """A strict filter by user leaves out the quota of the user with a client id; others do not."""
    user, both = await _user_and_client(broker)
    component = (USER, EXACT, user[USER])
    rate = {PRODUCED: 1000.0}
    await _becomes(broker, component, expected=[(user, rate), (both, rate)], strict=False)
    await _becomes(broker, component, expected=[(user, rate)])


@check("quota/filter-two", KIP, needs=QUOTAS)
async def filter_two(broker: Broker) -> None:
    """A filter by user and client id returns the quota of both together."""
    _, both = await _user_and_client(broker)
    conditions = [(kind, EXACT, name) for kind, name in both.items()]
    await _becomes(broker, *conditions, expected=[(both, {PRODUCED: 1000.0})])


@check("quota/filter-any-name", KIP, needs=QUOTAS)
async def filter_any_name(broker: Broker) -> None:
    """A filter by any client id returns the quotas of client ids."""
    entity = {CLIENT: broker.name("client")}
    await set_quota(broker, entity, 1000.0)
    expected: list[tuple[Entity, dict[str, float]]] = [(entity, {PRODUCED: 1000.0})]
    await _becomes(broker, (CLIENT, SPECIFIED, None), expected=expected)


@check("quota/filter-default", KIP, needs=QUOTAS)
async def filter_default(broker: Broker) -> None:
    """A filter by the default client id does not return the quota of a name."""
    entity = {CLIENT: broker.name("client")}
    await set_quota(broker, entity, 1000.0)
    rate = {PRODUCED: 1000.0}
    await _becomes(broker, (CLIENT, EXACT, entity[CLIENT]), expected=[(entity, rate)])
    await _becomes(broker, (CLIENT, DEFAULT, None), expected=[])


@check("quota/filter-twice", KIP, level=SHOULD, needs=QUOTAS)
async def filter_twice(broker: Broker) -> None:
    """A filter that names a type of entity twice gets INVALID_REQUEST."""
    name = broker.name("client")
    response = await _describe(broker, *[(CLIENT, EXACT, name)] * 2, strict=True)
    response.expect(error_code="INVALID_REQUEST")


@check("quota/filter-unknown-type", KIP, level=SHOULD, needs=QUOTAS)
async def filter_unknown_type(broker: Broker) -> None:
    """A filter by an unknown type of entity gets UNSUPPORTED_VERSION."""
    response = await _describe(broker, ("none-such", EXACT, "name"), strict=True)
    response.expect(error_code="UNSUPPORTED_VERSION")


@check("quota/filter-empty-type", KIP, level=SHOULD, needs=QUOTAS)
async def filter_empty_type(broker: Broker) -> None:
    """A filter by a type of entity without name gets INVALID_REQUEST."""
    response = await _describe(broker, ("", EXACT, "name"), strict=True)
    response.expect(error_code="INVALID_REQUEST")


@check("quota/entity-unknown-type", KIP, level=SHOULD, needs=QUOTAS)
async def entity_unknown_type(broker: Broker) -> None:
    """A quota of an unknown type of entity gets INVALID_REQUEST."""
    response = await alter_quota(broker, {"none-such": broker.name("client")}, value=1000.0)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/entity-empty", KIP, level=SHOULD, needs=QUOTAS)
async def entity_empty(broker: Broker) -> None:
    """A quota without an entity gets INVALID_REQUEST."""
    response = await alter_quota(broker, {}, value=1000.0)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/value-negative", KIP, level=SHOULD, needs=QUOTAS)
async def value_negative(broker: Broker) -> None:
    """A negative quota gets INVALID_REQUEST."""
    response = await alter_quota(broker, {CLIENT: broker.name("client")}, value=-1.0)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/value-fraction", KIP, level=SHOULD, needs=QUOTAS)
async def value_fraction(broker: Broker) -> None:
    """A byte rate that is not a whole number gets INVALID_REQUEST."""
    response = await alter_quota(broker, {CLIENT: broker.name("client")}, value=1.5)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/several-entities", KIP, needs=QUOTAS)
async def several_entities(broker: Broker) -> None:
    """An invalid entity does not affect the quotas of others in its request."""
    entity = {CLIENT: broker.name("client")}
    response = await alter_quota(broker, {"none-such": broker.name("client")}, entity, value=1000.0)
    for index, row in enumerate(response["entries"]):
        valid = row["entity"] == components(entity)
        response.at(f"entries[{index}]").expect(error_code="NONE" if valid else Not("NONE"))
    expected: list[tuple[Entity, dict[str, float]]] = [(entity, {PRODUCED: 1000.0})]
    await _becomes(broker, (CLIENT, EXACT, entity[CLIENT]), expected=expected)


@check("quota/remove-unset", KIP, level=SHOULD, needs=QUOTAS)
async def remove_unset(broker: Broker) -> None:
    """The removal of a quota that is not set gets NONE."""
    response = await alter_quota(broker, {CLIENT: broker.name("client")}, remove=True)
    response.at("entries[0]").expect(error_code="NONE")


CHECKS: Final[tuple[Check, ...]] = (
    client_id,
    strict,
    filter_two,
    filter_any_name,
    filter_default,
    filter_twice,
    filter_unknown_type,
    filter_empty_type,
    entity_unknown_type,
    entity_empty,
    value_negative,
    value_fraction,
    several_entities,
    remove_unset,
)
