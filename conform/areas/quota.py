"""Quotas of clients (KIP-546): set, described by filters, refused, enforced."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.client_ids import send_as
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.expectations import AtLeast, Not
from barnabas.conform.logs import batch, fetch_fields, produce_fields, produced, usable_version
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

KIP: Final = "KIP-546"
NEEDS: Final = {"AlterClientQuotas": 0, "DescribeClientQuotas": 0}

CLIENT: Final = "client-id"
USER: Final = "user"

EXACT: Final = 0
DEFAULT: Final = 1
SPECIFIED: Final = 2
"""How a component of a filter matches: a name, the default entity, any name."""

PRODUCED: Final = "producer_byte_rate"
CONSUMED: Final = "consumer_byte_rate"

Entity = dict[str, str]
"""Types of an entity's components, with their names."""


async def _alter(
    broker: Broker, *entities: Entity, key: str = PRODUCED, validate_only: bool = False, **op: Any
) -> Response:
    """Set a quota of entities; `op` has the value, or `remove`."""
    ops = [{"key": key, "value": 0.0, "remove": False, **op}]
    entries = [{"entity": _components(entity), "ops": ops} for entity in entities]
    return await broker.send("AlterClientQuotas", entries=entries, validate_only=validate_only)


def _components(entity: Entity) -> list[dict[str, str]]:
    return [{"entity_type": kind, "entity_name": name} for kind, name in entity.items()]


async def _set(broker: Broker, entity: Entity, value: float, key: str = PRODUCED) -> None:
    response = await _alter(broker, entity, key=key, value=value)
    response.at("entries[0]").expect(error_code="NONE")


async def _describe(broker: Broker, *components: tuple[str, int, str | None], strict: bool) -> Any:
    rows = [
        {"entity_type": kind, "match_type": how, "match": name} for kind, how, name in components
    ]
    return await broker.send("DescribeClientQuotas", components=rows, strict=strict)


async def _becomes(
    broker: Broker,
    *components: tuple[str, int, str | None],
    expected: list[tuple[Entity, dict[str, float]]],
    strict: bool = True,
) -> None:
    """Expect the quotas of the check's own entities, after a while at the latest. Raises Failed."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await _describe(broker, *components, strict=strict)
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


@check("quota/client-id", KIP, needs=NEEDS)
async def client_id(broker: Broker) -> None:
    """Quotas of a client id are described, changed and removed one by one."""
    name = broker.name("client")
    entity = {CLIENT: name}
    await _set(broker, entity, 1000.0)
    await _set(broker, entity, 2000.0, CONSUMED)
    both = {PRODUCED: 1000.0, CONSUMED: 2000.0}
    await _becomes(broker, (CLIENT, EXACT, name), expected=[(entity, both)])
    await _set(broker, entity, 3000.0)
    (await _alter(broker, entity, key=CONSUMED, remove=True)).at("entries[0]").expect(
        error_code="NONE", entity=_components(entity)
    )
    await _becomes(broker, (CLIENT, EXACT, name), expected=[(entity, {PRODUCED: 3000.0})])


async def _user_and_client(broker: Broker) -> tuple[Entity, Entity]:
    """Set a quota of a user, and one of the user with a client id."""
    user = {USER: broker.name("user")}
    both = {**user, CLIENT: broker.name("client")}
    for entity in (user, both):
        await _set(broker, entity, 1000.0)
    return user, both


@check("quota/strict", KIP, needs=NEEDS)
async def strict(broker: Broker) -> None:
    """A strict filter by user leaves out the quota of the user with a client id; others do not."""
    user, both = await _user_and_client(broker)
    component = (USER, EXACT, user[USER])
    rate = {PRODUCED: 1000.0}
    await _becomes(broker, component, expected=[(user, rate), (both, rate)], strict=False)
    await _becomes(broker, component, expected=[(user, rate)])


@check("quota/filter-two", KIP, needs=NEEDS)
async def filter_two(broker: Broker) -> None:
    """A filter by user and client id returns the quota of both together."""
    _, both = await _user_and_client(broker)
    components = [(kind, EXACT, name) for kind, name in both.items()]
    await _becomes(broker, *components, expected=[(both, {PRODUCED: 1000.0})])


@check("quota/filter-any-name", KIP, needs=NEEDS)
async def filter_any_name(broker: Broker) -> None:
    """A filter by any client id returns the quotas of client ids."""
    entity = {CLIENT: broker.name("client")}
    await _set(broker, entity, 1000.0)
    expected: list[tuple[Entity, dict[str, float]]] = [(entity, {PRODUCED: 1000.0})]
    await _becomes(broker, (CLIENT, SPECIFIED, None), expected=expected)


@check("quota/filter-default", KIP, needs=NEEDS)
async def filter_default(broker: Broker) -> None:
    """A filter by the default client id does not return the quota of a name."""
    entity = {CLIENT: broker.name("client")}
    await _set(broker, entity, 1000.0)
    rate = {PRODUCED: 1000.0}
    await _becomes(broker, (CLIENT, EXACT, entity[CLIENT]), expected=[(entity, rate)])
    await _becomes(broker, (CLIENT, DEFAULT, None), expected=[])


@check("quota/filter-twice", KIP, level=SHOULD, needs=NEEDS)
async def filter_twice(broker: Broker) -> None:
    """A filter that names a type of entity twice gets INVALID_REQUEST."""
    name = broker.name("client")
    response = await _describe(broker, *[(CLIENT, EXACT, name)] * 2, strict=True)
    response.expect(error_code="INVALID_REQUEST")


@check("quota/filter-unknown-type", KIP, level=SHOULD, needs=NEEDS)
async def filter_unknown_type(broker: Broker) -> None:
    """A filter by an unknown type of entity gets UNSUPPORTED_VERSION."""
    response = await _describe(broker, ("none-such", EXACT, "name"), strict=True)
    response.expect(error_code="UNSUPPORTED_VERSION")


@check("quota/filter-empty-type", KIP, level=SHOULD, needs=NEEDS)
async def filter_empty_type(broker: Broker) -> None:
    """A filter by a type of entity without name gets INVALID_REQUEST."""
    response = await _describe(broker, ("", EXACT, "name"), strict=True)
    response.expect(error_code="INVALID_REQUEST")


@check("quota/entity-unknown-type", KIP, level=SHOULD, needs=NEEDS)
async def entity_unknown_type(broker: Broker) -> None:
    """A quota of an unknown type of entity gets INVALID_REQUEST."""
    response = await _alter(broker, {"none-such": broker.name("client")}, value=1000.0)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/entity-empty", KIP, level=SHOULD, needs=NEEDS)
async def entity_empty(broker: Broker) -> None:
    """A quota of no entity gets INVALID_REQUEST."""
    response = await _alter(broker, {}, value=1000.0)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/value-negative", KIP, level=SHOULD, needs=NEEDS)
async def value_negative(broker: Broker) -> None:
    """A negative quota gets INVALID_REQUEST."""
    response = await _alter(broker, {CLIENT: broker.name("client")}, value=-1.0)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/value-fraction", KIP, level=SHOULD, needs=NEEDS)
async def value_fraction(broker: Broker) -> None:
    """A byte rate that is no whole number gets INVALID_REQUEST."""
    response = await _alter(broker, {CLIENT: broker.name("client")}, value=1.5)
    response.at("entries[0]").expect(error_code="INVALID_REQUEST")


@check("quota/several-entities", KIP, needs=NEEDS)
async def several_entities(broker: Broker) -> None:
    """An invalid entity does not hinder the quotas of others in its request."""
    entity = {CLIENT: broker.name("client")}
    response = await _alter(broker, {"none-such": broker.name("client")}, entity, value=1000.0)
    for index, row in enumerate(response["entries"]):
        valid = row["entity"] == _components(entity)
        response.at(f"entries[{index}]").expect(error_code="NONE" if valid else Not("NONE"))
    expected: list[tuple[Entity, dict[str, float]]] = [(entity, {PRODUCED: 1000.0})]
    await _becomes(broker, (CLIENT, EXACT, entity[CLIENT]), expected=expected)


@check("quota/remove-unset", KIP, level=SHOULD, needs=NEEDS)
async def remove_unset(broker: Broker) -> None:
    """The removal of a quota that is not set gets NONE."""
    response = await _alter(broker, {CLIENT: broker.name("client")}, remove=True)
    response.at("entries[0]").expect(error_code="NONE")


THROTTLED_S: Final = 30.0
"""How long a response of a throttled client may take."""

RATE: Final = 500.0
"""A quota in bytes per second, which a few requests exceed."""

SIZE: Final = 4000
"""Bytes of a request: Kafka throttles by what exceeds the quota in its window of some seconds."""


@check("quota/throttle-produce", "KIP-219, KIP-546", needs={**NEEDS, "Produce": 3})
async def throttle_produce(broker: Broker) -> None:
    """A client that produces more than its quota gets a throttle time; its records are stored."""
    topic, client = await broker.topic(), broker.name("client")
    leader = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Produce", topic)
    await _set(broker, {CLIENT: client}, RATE)
    body = await produce_fields(broker, topic, {0: batch("x" * SIZE)}, version)
    await _throttled(leader, client, "Produce", version, body)


async def _throttled(
    connection: Connection, client: str, api: str, version: int, body: Any
) -> None:
    """Expect a throttle time in the response of one of several requests. Raises Failed."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await send_as(connection, client, api, version, THROTTLED_S, **body)
        if response["throttle_time_ms"] > 0 or await Now() > deadline:
            response.expect(throttle_time_ms=AtLeast(1))
            return
        await Sleep(0.05)


@check("quota/throttle-fetch", "KIP-219, KIP-546", needs={**NEEDS, "Produce": 3, "Fetch": 4})
async def throttle_fetch(broker: Broker) -> None:
    """A client that fetches more than its quota gets a throttle time."""
    topic, client = await broker.topic(), broker.name("client")
    await produced(broker, topic, "x" * SIZE)
    leader = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Fetch", topic)
    await _set(broker, {CLIENT: client}, RATE, CONSUMED)
    body = await fetch_fields(broker, topic, 0, version)
    await _throttled(leader, client, "Fetch", version, body)


@check("quota/throttle-mutes", "KIP-219", level=INFO, needs={**NEEDS, "Produce": 3})
async def throttle_mutes(broker: Broker) -> None:
    """The response with a throttle time comes at once; the next request is read after that time."""
    topic, client = await broker.topic(), broker.name("client")
    leader = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Produce", topic)
    await _set(broker, {CLIENT: client}, RATE)
    body = await produce_fields(broker, topic, {0: batch("x" * SIZE)}, version)
    deadline = await Now() + SETTLE_S
    while True:
        begun = await Now()
        response = await send_as(leader, client, "Produce", version, THROTTLED_S, **body)
        if response["throttle_time_ms"] > 0 or await Now() > deadline:
            break
        await Sleep(0.05)
    answered = await Now()
    seconds = response.expect(throttle_time_ms=AtLeast(500))["throttle_time_ms"] / 1000
    if answered - begun > seconds:
        raise response.failed("", f"a response before {seconds:g} s", f"{answered - begun:.2f} s")
    following = await send_as(leader, client, "ApiVersions", 0, THROTTLED_S)
    muted = await Now() - answered
    if muted < seconds * 0.8:
        raise following.failed("", f"a response after {seconds:g} s", f"{muted:.2f} s")


@check("quota/throttle-others", "KIP-546", needs={**NEEDS, "Produce": 3})
async def throttle_others(broker: Broker) -> None:
    """A quota of a client id does not throttle other clients."""
    topic, client = await broker.topic(), broker.name("client")
    leader = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Produce", topic)
    await _set(broker, {CLIENT: client}, RATE)
    body = await produce_fields(broker, topic, {0: batch("x" * SIZE)}, version)
    await _throttled(leader, client, "Produce", version, body)
    connection = await broker.leader(topic, fresh=True)
    response = await send_as(connection, f"{client}-other", "Produce", version, **body)
    response.expect(throttle_time_ms=0)


@check("quota/throttle-topics", "KIP-599", needs={**NEEDS, "CreateTopics": 6})
async def throttle_topics(broker: Broker) -> None:
    """A client that creates more partitions than its quota gets THROTTLING_QUOTA_EXCEEDED."""
    client = broker.name("client")
    await _set(broker, {CLIENT: client}, 1.0, "controller_mutation_rate")
    row = {"num_partitions": 20, "replication_factor": 1, "assignments": [], "configs": []}
    body = {"timeout_ms": 10_000, "validate_only": True}
    deadline = await Now() + SETTLE_S
    while True:
        topics = [{**row, "name": broker.name("topic")}]
        response = await send_as(broker.main, client, "CreateTopics", None, topics=topics, **body)
        throttled = response["topics[0].error_code"] == "THROTTLING_QUOTA_EXCEEDED"
        if throttled or await Now() > deadline:
            break
        await Sleep(0.05)
    response.at("topics[0]").expect(error_code="THROTTLING_QUOTA_EXCEEDED")
    response.expect(throttle_time_ms=AtLeast(1))


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
    throttle_produce,
    throttle_fetch,
    throttle_mutes,
    throttle_others,
    throttle_topics,
)
