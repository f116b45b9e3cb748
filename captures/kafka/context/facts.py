"""Format the facts that the context adds to an exchange, for programs; null: unknown."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from barnabas.captures.kafka.context import members, sessions
from barnabas.captures.kafka.context.id_names import (
    PRODUCER,
    TOPIC,
    directions,
    ids_without_names,
    name_of,
)
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.jsonform import uuid_text

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Mapping

    from barnabas.captures.kafka.context import Context


def facts(exchange: Exchange, context: Context) -> dict[str, Any]:
    """Return the facts of an exchange in JSON form, as far as there are any.

    Returns:
        topics: names of ids without a name. session: the partitions of a Fetch or ShareFetch, and whether all
            are known
        (`complete`). member: the member that sent a heartbeat, its subscriptions and assignment.
            transactions:
        transactional ids of producer ids without one.
    """
    result: dict[str, Any] = {}
    if not _has_facts(exchange.key, exchange.version):
        return result
    if topics := ids_without_names(exchange, TOPIC):
        result["topics"] = {uuid_text(topic): context.topics.get(topic) for topic in topics}
    session = context.sessions.of(exchange)
    if session is not None:
        result["session"] = {
            "id": session.id,
            "partitions": _named(session.partitions.items(), context.topics),
            "complete": session.complete,
        }
    member = context.members.of(exchange)
    if member is not None:
        result["member"] = {
            "group": member.group,
            "member_id": member.id,
            "epoch": member.epoch,
            "subscribed": None if member.subscribed is None else list(member.subscribed),
            "pattern": member.pattern,
            "assigned": None
            if member.assigned is None
            else _named(member.assigned.items(), context.topics),
        }
    if producers := ids_without_names(exchange, PRODUCER):
        result["transactions"] = {
            str(number): context.producers.get(number) for number in producers
        }
    return result


@lru_cache(4096)
def _has_facts(key: int, version: int) -> bool:
    """Return whether exchanges of an API and version may have facts."""
    has_ids = any(directions(key, version, entity, False) for entity in (TOPIC, PRODUCER))
    return has_ids or key in sessions.KEYS or key in members.KEYS


def _named(
    partitions: Iterable[tuple[uuid.UUID | str, Iterable[int]]], names: Mapping[uuid.UUID, str]
) -> dict[str, list[int]]:
    return {name_of(topic, names): sorted(numbers) for topic, numbers in partitions}
