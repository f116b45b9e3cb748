"""What the context adds to an exchange, for programs; null where it does not know."""

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
    """In JSON form; only what there is: topics, session, member, transactions.

    topics: names of the ids that stand alone. session: what a Fetch or ShareFetch is about, and
    whether that is all of it (`complete`). member: whose heartbeat it is, what it is subscribed to and
    assigned. transactions: transactional ids of the producer ids that stand alone.
    """
    found: dict[str, Any] = {}
    if not _has_facts(exchange.key, exchange.version):
        return found
    if topics := ids_without_names(exchange, TOPIC):
        found["topics"] = {uuid_text(topic): context.topics.get(topic) for topic in topics}
    session = context.sessions.of(exchange)
    if session is not None:
        found["session"] = {
            "id": session.id,
            "partitions": _named(session.partitions.items(), context.topics),
            "complete": session.complete,
        }
    member = context.members.of(exchange)
    if member is not None:
        found["member"] = {
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
        found["transactions"] = {str(number): context.producers.get(number) for number in producers}
    return found


@lru_cache(4096)
def _has_facts(key: int, version: int) -> bool:
    """Whether there may be something to say of such an exchange."""
    alone = any(directions(key, version, kind, False) for kind in (TOPIC, PRODUCER))
    return alone or key in sessions.KEYS or key in members.KEYS


def _named(
    partitions: Iterable[tuple[uuid.UUID | str, Iterable[int]]], names: Mapping[uuid.UUID, str]
) -> dict[str, list[int]]:
    return {name_of(topic, names): sorted(numbers) for topic, numbers in partitions}
