"""Quotas of clients (KIP-546) that checks set."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.response import Response

QUOTAS: Final = {"AlterClientQuotas": 0, "DescribeClientQuotas": 0}
"""What checks of quotas need."""

CLIENT: Final = "client-id"
USER: Final = "user"
"""Types of an entity's components."""

PRODUCED: Final = "producer_byte_rate"
CONSUMED: Final = "consumer_byte_rate"

Entity = dict[str, str]
"""Types of an entity's components, with their names."""


async def alter_quota(
    broker: Broker, *entities: Entity, key: str = PRODUCED, validate_only: bool = False, **op: Any
) -> Response:
    """Set a quota of entities, and return the response; `op` has the value, or `remove`."""
    ops = [{"key": key, "value": 0.0, "remove": False, **op}]
    entries = [{"entity": components(entity), "ops": ops} for entity in entities]
    return await broker.send("AlterClientQuotas", entries=entries, validate_only=validate_only)


def components(entity: Entity) -> list[dict[str, str]]:
    """Return the components of an entity as in requests."""
    return [{"entity_type": kind, "entity_name": name} for kind, name in entity.items()]


async def set_quota(broker: Broker, entity: Entity, value: float, key: str = PRODUCED) -> None:
    """Set a quota of an entity, which must be accepted."""
    response = await alter_quota(broker, entity, key=key, value=value)
    response.at("entries[0]").expect(error_code="NONE")
