"""What the context adds to a line: the partitions of a session, what a member has, whose producer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.id_names import PRODUCER, ids_without_names
from barnabas.captures.kafka.context.members import Member
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.context.registrations import is_for_registered
from barnabas.captures.kafka.context.sessions import Session
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import Names, group_name, listed, partitions_of, ranges
from barnabas.plural import plural


def learnt(exchange: Exchange, context: Context) -> str:
    """A few words to put behind others, or none. They say where something began before it was listened
    to."""
    session = context.sessions.of(exchange)
    if session is not None:
        return _session(session, context.topics)
    member = context.members.of(exchange)
    if member is not None:
        said = fields(exchange, "response", "assignment", "active_tasks") or {}
        new = any(said.get(name) is not None for name in ("assignment", "active_tasks"))
        return "" if new else _member(member, context.topics)
    if is_for_registered(exchange.key):
        group = context.registrations.get(exchange.connection)
        return "" if group is None else f" of {group_name(group)}"
    owners = [context.producers.get(number) for number in ids_without_names(exchange, PRODUCER)]
    known = dict.fromkeys(filter(None, owners))
    return f" of {listed(known, 'transaction')}" if known else ""


def _session(session: Session, names: Names) -> str:
    words = ", share session" if session.id is None else f", session {session.id}"
    if not session.count:
        return f"{words} that began earlier" if not session.complete else f"{words}: empty"
    where = _partitions(session.partitions, names)
    since = "" if session.complete else " (partial: the session began earlier)"
    return f"{words}: {plural(session.count, 'partition')} {where}{since}"


def _member(member: Member, names: Names) -> str:
    """What it has, for a heartbeat that does not say it."""
    if member.assigned is None:
        return ", assignment not seen"
    return f" has {_partitions(member.assigned, names) or 'nothing'}"


def _partitions(found: Mapping[Any, Iterable[int]], names: Names) -> str:
    topics = [
        {"name": topic if isinstance(topic, str) else "", "topic_id": topic, "partitions": numbers}
        for topic, numbers in found.items()
    ]
    return partitions_of(topics, "partitions", names, ranges)
