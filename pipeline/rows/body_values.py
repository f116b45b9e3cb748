"""The values of an exchange's bodies for its row: topics, partitions, group, member, transaction.

Only the fields that a column needs are decoded.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any, Final

from barnabas.captures.checks.facts import PLACES
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.name_completion import gaps
from barnabas.captures.kafka.context.request_group import GROUP_ID, PATHS, group_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.topics import topics_of
from barnabas.pipeline.rows.body_columns.registry import TYPED_COLUMNS
from barnabas.pipeline.rows.body_columns.topics import name_of
from barnabas.specs.entities import entity_paths, named
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.keys import (
    API_VERSIONS,
    CONSUMER_GROUP_HEARTBEAT,
    FETCH,
    PRODUCE,
    SHARE_ACKNOWLEDGE,
    SHARE_FETCH,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_HEARTBEAT,
)
from barnabas.specs.registry import NAMES, api


def body_values(
    exchange: Exchange,
    context: Context | None,
    columns: Collection[str],
    *,
    made: bool,
    whole: bool,
) -> dict[str, Any]:
    """Return at least these columns; unreadable values are missing or None.

    `made` says whether a function of TYPED_COLUMNS is needed. `whole` says that the whole bodies are decoded
    anyway: then no field is decoded separately.
    """
    key = exchange.key
    if key not in NAMES:
        return {}
    names = {} if context is None else context.topics
    values: dict[str, Any] = {}
    hot = TYPED_COLUMNS.get(key)
    if hot is not None and made:
        request = _fields(exchange, "request", hot.request, whole=whole)
        response = _fields(exchange, "response", hot.response, whole=whole)
        values = hot.make(request, response, names)
    if "topics" in columns:
        topics = values.get("topics")
        if topics is None:
            topics = topics_of(exchange, names) if _says_topics(key, exchange.version) else set()
        if context is not None and key in _CONTINUED:
            topics = topics | _completed(exchange, context)
        values["topics"] = sorted(topics)
    if "partitions" in columns:
        values.setdefault("partitions", [])
        _add_checksums(values["partitions"], exchange, context)
    if "group" in columns:
        body = exchange.request_body
        may_have_group = body and _says_group(key, exchange.version)
        values["group"] = (may_have_group and group_of(key, exchange.version, body or b"")) or None
    if "transactional_id" in columns:
        transaction = _transaction(exchange, whole=whole)
        if transaction is None and context is not None and values.get("producer_id") is not None:
            transaction = context.producers.get(values["producer_id"])
        values["transactional_id"] = transaction
    values["member"] = values.get("member") or None
    return values


def _add_checksums(
    partition_rows: list[dict[str, Any]], exchange: Exchange, context: Context | None
) -> None:
    """Add the checksums of record sets in a Produce, which checks compute, too."""
    if exchange.key == PRODUCE:
        sent = PLACES.of(exchange, context) or ()
        for row, partition in zip(partition_rows, sent, strict=False):
            row["checksum"] = partition.checksum


def _fields(
    exchange: Exchange, direction: Direction, paths: tuple[str, ...], *, whole: bool
) -> dict[str, Any]:
    """Return at least these fields of a body; none if it is unreadable or absent.

    If the body was decoded as a whole, its values are used.
    """
    if not paths:
        return {}
    if whole:
        decoded = exchange.request if direction == "request" else exchange.response
        if decoded is not None:
            return decoded
    return fields(exchange, direction, *paths) or {}


@functools.lru_cache(4096)
def _says_topics(key: int, version: int) -> bool:
    """Return whether messages of this version may name a topic, or may have another version's layout."""
    try:
        return key == API_VERSIONS or any(
            entity_paths("topic", key, direction, version) or gaps(key, version, direction)
            for direction in DIRECTIONS
        )
    except LookupError:
        return True


@functools.lru_cache(4096)
def _says_group(key: int, version: int) -> bool:
    """Return whether requests of this version may name a group."""
    try:
        layout = api(key).request.layout(version)
    except LookupError:
        return True
    return any(layout.find(path) for path in PATHS.get(key, GROUP_ID))


_CONTINUED: Final = frozenset(
    (
        FETCH,
        SHARE_FETCH,
        SHARE_ACKNOWLEDGE,
        CONSUMER_GROUP_HEARTBEAT,
        SHARE_GROUP_HEARTBEAT,
        STREAMS_GROUP_HEARTBEAT,
    )
)
"""APIs whose messages may omit topics that were named before."""


def _completed(exchange: Exchange, context: Context) -> set[str]:
    """Return topics that the message omits: those of its session, or of its member."""
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
    if values.get(paths[0], 0) is None:  # in most requests
        return None
    ids = named("transactional_id", key, "request", version, values) if values else set()
    return (ids.pop() or None) if len(ids) == 1 else None


@functools.lru_cache(4096)
def _transaction_paths(key: int, version: int) -> tuple[str, ...]:
    try:
        return tuple(map(".".join, entity_paths("transactional_id", key, "request", version)))
    except LookupError:  # an unknown version
        return ()
