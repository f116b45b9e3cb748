"""Learn protocol type and name of a group, which JoinGroup has, and SyncGroup before v5 lacks."""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import JOIN_GROUP

KEYS: Final = (JOIN_GROUP,)
"""The APIs that reveal them."""


class Group(NamedTuple):
    """Protocol type and name of a group; None: unknown."""

    protocol_type: str | None = None
    protocol_name: str | None = None


def learn_group(groups: Memory[str, Group], exchange: Exchange) -> None:
    """Learn from a JoinGroup."""
    request = fields(exchange, "request", "group_id", "protocol_type")
    if not request or not request["protocol_type"]:
        return
    before = groups.get(request["group_id"], Group())
    response = fields(exchange, "response", "protocol_name") or {}
    name = response.get("protocol_name") or before.protocol_name
    groups[request["group_id"]] = Group(request["protocol_type"], name)
