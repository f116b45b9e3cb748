"""Describe what the context adds to a log line: sessions, assignments, owners of producer ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.id_names import PRODUCER, ids_without_names
from barnabas.captures.kafka.context.members import Member
from barnabas.captures.kafka.context.registrations import is_for_registered
from barnabas.captures.kafka.context.sessions import Session
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import Names, group_name, listed, partitions_of, ranges
from barnabas.plural import plural


def context_words(exchange: Exchange, context: Context) -> str:
    """Return the words that the context adds to a log line; empty without any.

    They mention a beginning that the context did not see.
    """
    session = context.sessions.of(exchange)
    if session is not None:
        return _session(session, context.topics)
    member = context.members.of(exchange)
    if member is not None:
        response = fields(exchange, "response", "assignment", "active_tasks") or {}
        new = any(response.get(name) is not None for name in ("assignment", "active_tasks"))
        return "" if new else _member(member, context.topics)
    if is_for_registered(exchange.key):
        group = context.registrations.get(exchange.connection)
        return "" if group is None else f" of {group_name(group)}"
    owners = [context.producers.get(number) for number in ids_without_names(exchange, PRODUCER)]
    owners_text = dict.fromkeys(filter(None, owners))
    return f" of {listed(owners_text, 'transaction')}" if owners_text else ""


def _session(session: Session, names: Names) -> str:
    words = ", share session" if session.id is None else f", session {session.id}"
    if not session.count:
        return f"{words} that began earlier" if not session.complete else f"{words}: empty"
    partitions = _partitions(session.partitions, names)
    since = "" if session.complete else " (partial: the session began earlier)"
    return f"{words}: {plural(session.count, 'partition')} {partitions}{since}"


def _member(member: Member, names: Names) -> str:
    """Describe the assignment of a member whose heartbeat does not have it."""
    if member.assigned is None:
        return ", assignment not seen"
    return f" has {_partitions(member.assigned, names) or 'nothing'}"


def _partitions(partitions: Mapping[Any, Iterable[int]], names: Names) -> str:
    topics = [
        {"name": topic if isinstance(topic, str) else "", "topic_id": topic, "partitions": numbers}
        for topic, numbers in partitions.items()
    ]
    return partitions_of(topics, "partitions", names, ranges)
