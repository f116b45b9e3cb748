"""What the bodies of an exchange say for its row: topics, partitions, group, member, transaction.

Of a body only what a column asks for is read.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any, Final

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.completing import gaps
from barnabas.captures.kafka.context.members import CONSUMER, SHARE, STREAMS
from barnabas.captures.kafka.context.naming import GROUP_ID, PATHS, group_of
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.topics import topics_of
from barnabas.pipeline.rows.body_columns.registry import HOT
from barnabas.pipeline.rows.body_columns.topics import name_of
from barnabas.specs.entities import entity_paths, named
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.keys import API_VERSIONS, FETCH, SHARE_ACKNOWLEDGE, SHARE_FETCH
from barnabas.specs.registry import NAMES, api


def body_values(
    exchange: Exchange,
    context: Context | None,
    columns: Collection[str],
    *,
    made: bool,
    whole: bool,
) -> dict[str, Any]:
    """Columns that bodies say, at least these; what can't be read is missing or None.

    made: whether a function of HOT is needed. whole: whether all of the bodies is decoded in any case: then
    nothing of them is decoded apart.
    """
    key = exchange.key
    if key not in NAMES:
        return {}
    names = {} if context is None else context.topics
    found: dict[str, Any] = {}
    hot = HOT.get(key)
    if hot is not None and made:
        request = _fields(exchange, "request", hot.request, whole=whole)
        response = _fields(exchange, "response", hot.response, whole=whole)
        found = hot.make(request, response, names)
    if "topics" in columns:
        topics = found.get("topics")
        if topics is None:
            topics = topics_of(exchange, names) if _says_topics(key, exchange.version) else set()
        if context is not None and key in _CONTINUED:
            topics = topics | _completed(exchange, context)
        found["topics"] = sorted(topics)
    if "partitions" in columns:
        found.setdefault("partitions", [])
    if "group" in columns:
        body = exchange.request_body
        asked = body and _says_group(key, exchange.version)
        found["group"] = (asked and group_of(key, exchange.version, body or b"")) or None
    if "transactional_id" in columns:
        transaction = _transaction(exchange, whole=whole)
        if transaction is None and context is not None and found.get("producer_id") is not None:
            transaction = context.producers.get(found["producer_id"])
        found["transactional_id"] = transaction
    found["member"] = found.get("member") or None
    return found


def _fields(
    exchange: Exchange, direction: Direction, paths: tuple[str, ...], *, whole: bool
) -> dict[str, Any]:
    """At least these fields of a body; none if it can't be read or is absent.

    What is decoded as a whole has the same values there, and needs no decoding of its own.
    """
    if not paths:
        return {}
    if whole:
        found = exchange.request if direction == "request" else exchange.response
        if found is not None:
            return found
    return fields(exchange, direction, *paths) or {}


@functools.lru_cache(4096)
def _says_topics(key: int, version: int) -> bool:
    """Whether messages of this kind may name a topic, or may have another version's layout."""
    try:
        return key == API_VERSIONS or any(
            entity_paths("topic", key, direction, version) or gaps(key, version, direction)
            for direction in DIRECTIONS
        )
    except LookupError:
        return True


@functools.lru_cache(4096)
def _says_group(key: int, version: int) -> bool:
    """Whether requests of this kind may name a group."""
    try:
        layout = api(key).request.layout(version)
    except LookupError:
        return True
    return any(layout.find(path) for path in PATHS.get(key, GROUP_ID))


_CONTINUED: Final = frozenset((FETCH, SHARE_FETCH, SHARE_ACKNOWLEDGE, CONSUMER, SHARE, STREAMS))
"""APIs whose messages may leave out topics that were named before."""


def _completed(exchange: Exchange, context: Context) -> set[str]:
    """Topics that the message does not name: those of its session, or of its member."""
    session = context.sessions.of(exchange)
    if session is not None:
        return {name_of(topic, context.topics) for topic in session.partitions}
    member = context.members.of(exchange)
    return set(member.subscribed or ()) if member is not None else set()


def _transaction(exchange: Exchange, *, whole: bool) -> str | None:
    key, version = exchange.key, exchange.version
    paths = _transaction_paths(key, version)
    if not paths:
        return None
    values = _fields(exchange, "request", paths, whole=whole)
    if values.get(paths[0], 0) is None:  # the usual case
        return None
    found = named("transactional_id", key, "request", version, values) if values else set()
    return (found.pop() or None) if len(found) == 1 else None


@functools.lru_cache(4096)
def _transaction_paths(key: int, version: int) -> tuple[str, ...]:
    try:
        return tuple(map(".".join, entity_paths("transactional_id", key, "request", version)))
    except LookupError:  # a version that nobody knows
        return ()
