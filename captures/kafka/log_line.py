"""Describe the essentials of an exchange in a few words, for one line of the log.

A table lists, by API, the fields needed of request and response, and the function that makes the phrase. It
serves all versions: a path that a version lacks is ignored, so the table names the fields of every version.
Only these fields are decoded.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Final

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import HEADLESS, Exchange
from barnabas.captures.kafka.phrases import cluster, groups, offsets, records, sasl, transactions
from barnabas.captures.kafka.phrases.context_words import context_words
from barnabas.captures.kafka.wording import (
    WIDTH,
    Body,
    fit,
    joined,
    listed,
    printable,
    shorten,
    size,
)
from barnabas.plural import plural
from barnabas.specs import keys
from barnabas.specs.codec import TooLarge
from barnabas.specs.dialects.dialect import PhraseRow
from barnabas.specs.dialects.keys import STEP, of_key
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api
from barnabas.specs.secrets import SECRETS


def details(exchange: Exchange, context: Context | None = None) -> str:
    """Describe an exchange in at most WIDTH printable characters; empty if nothing is known of it.

    Args:
        exchange: The exchange.
        context: Facts learned up to and including this exchange. Unknown topics are shown by the start of
            their id.
    """
    context = Context() if context is None else context
    if exchange.sasl:
        return shorten(exchange.sasl, WIDTH)
    if exchange.key in HEADLESS:
        response_size = exchange.response_size
        response = "? bytes" if response_size is None else plural(response_size, "byte")
        return f"{plural(exchange.request_size, 'byte')} → {response}"
    if exchange.key not in NAMES and exchange.key < STEP:
        return ""
    try:
        text = _phrase(exchange, context)
    except TooLarge as problem:
        text = "" if exchange.too_large else str(problem)
    except Malformed as problem:
        text = f"undecodable: {problem}"
    except Exception as problem:
        if exchange.key >= STEP:
            text = f"no words: {problem!r}"
        elif isinstance(problem, LookupError):
            text = "no such version"
        else:
            raise
    if exchange.too_large:
        text = joined(text, f"({' and '.join(exchange.too_large)} too large to decode)")
    return fit(printable(text), WIDTH)


def _phrase(exchange: Exchange, context: Context) -> str:
    """Describe an exchange. Raises Malformed, LookupError, or any error of a dialect's phrase."""
    row = _row(exchange.key)
    if row is None:
        return _generic(exchange)
    requested, answered, words = row
    request = _fields(exchange, "request", requested)
    if exchange.key == keys.METADATA and exchange.version == 0 and request.get("topics") == []:
        request = {"topics": None}  # as later versions request all topics
    text = words(request, _fields(exchange, "response", answered), context.topics)
    return (text + context_words(exchange, context)).lstrip(", ")


def _row(key: int) -> PhraseRow | None:
    if key < STEP:
        return DETAILS.get(key)
    dialect, api = of_key(key)
    return dialect.phrases.get(api.name)


def _fields(exchange: Exchange, direction: Direction, paths: tuple[str, ...]) -> Body:
    """Return these fields of a body, or all if it is decoded already."""
    if not paths or (exchange.key > STEP and not exchange.body(direction)):
        return {}  # after an error in the header there is no body
    return exchange.project(direction, *paths) or {}


_COMMITS: Final = (
    "group_id",
    *("topics." + name for name in ("name", "topic_id")),
    *("topics.partitions." + name for name in ("partition_index", "committed_offset")),
)

_FETCHED_OFFSETS: Final = (
    *(path for path in _COMMITS if path not in ("group_id", "topics.topic_id")),
    *("groups." + path for path in _COMMITS),
)

_HEARTBEAT: Final = ("group_id", "member_id", "member_epoch")

DETAILS: Final[dict[int, PhraseRow]] = {
    keys.PRODUCE: (
        (
            "transactional_id",
            "acks",
            "topic_data.name",
            "topic_data.topic_id",
            "topic_data.partition_data",
        ),
        (),
        records.produce,
    ),
    keys.FETCH: (
        (
            "topics.topic",
            "topics.topic_id",
            "topics.partitions.partition",
            "topics.partitions.fetch_offset",
        ),
        (
            "responses.topic",
            "responses.topic_id",
            "responses.partitions.partition_index",
            "responses.partitions.records",
        ),
        records.fetch,
    ),
    keys.LIST_OFFSETS: (("topics",), ("topics",), offsets.list_offsets),
    keys.METADATA: (("topics",), ("brokers.node_id", "topics.error_code"), cluster.metadata),
    keys.OFFSET_COMMIT: (_COMMITS, (), offsets.offset_commit),
    keys.OFFSET_FETCH: (
        (
            "group_id",
            "topics",
            "groups.group_id",
            "groups.topics",
        ),
        _FETCHED_OFFSETS,
        offsets.offset_fetch,
    ),
    keys.FIND_COORDINATOR: (
        ("key", "key_type", "coordinator_keys"),
        ("node_id", "coordinators.key", "coordinators.node_id"),
        cluster.find_coordinator,
    ),
    keys.JOIN_GROUP: (
        ("group_id", "member_id", "protocols.name", "reason"),
        ("generation_id", "protocol_name", "leader", "member_id", "members.member_id"),
        groups.join_group,
    ),
    keys.HEARTBEAT: (("group_id", "generation_id", "member_id"), (), groups.generation),
    keys.LEAVE_GROUP: (
        (
            *("group_id", "member_id"),
            *("members.member_id", "members.group_instance_id", "members.reason"),
        ),
        (),
        groups.leave_group,
    ),
    keys.SYNC_GROUP: (
        ("group_id", "generation_id", "member_id", "assignments.member_id"),
        ("assignment",),
        groups.sync_group,
    ),
    keys.DESCRIBE_GROUPS: (
        ("groups",),
        ("groups.group_id", "groups.group_state"),
        groups.describe_groups,
    ),
    keys.LIST_GROUPS: ((), ("groups.group_id",), groups.list_groups),
    keys.SASL_HANDSHAKE: (("mechanism",), ("error_code", "mechanisms"), sasl.sasl_handshake),
    keys.API_VERSIONS: (
        ("client_software_name", "client_software_version"),
        ("api_keys.api_key",),
        cluster.api_versions,
    ),
    keys.CREATE_TOPICS: (
        ("topics.name", "topics.num_partitions", "topics.replication_factor"),
        (),
        cluster.create_topics,
    ),
    keys.DELETE_TOPICS: (("topics", "topic_names"), (), cluster.delete_topics),
    keys.INIT_PRODUCER_ID: (
        ("transactional_id",),
        ("producer_id", "producer_epoch"),
        transactions.init_producer_id,
    ),
    keys.ADD_PARTITIONS_TO_TXN: (
        (
            "transactions.transactional_id",
            "transactions.topics",
            "v3_and_below_transactional_id",
            "v3_and_below_topics",
        ),
        (),
        transactions.add_partitions_to_txn,
    ),
    keys.ADD_OFFSETS_TO_TXN: (
        ("transactional_id", "group_id"),
        (),
        transactions.add_offsets_to_txn,
    ),
    keys.END_TXN: (("transactional_id", "committed"), (), transactions.end_txn),
    keys.WRITE_TXN_MARKERS: (
        ("markers.producer_id", "markers.transaction_result", "markers.topics"),
        (),
        transactions.write_txn_markers,
    ),
    keys.TXN_OFFSET_COMMIT: (("transactional_id", *_COMMITS), (), offsets.offset_commit),
    keys.SASL_AUTHENTICATE: (("auth_bytes",), ("auth_bytes",), sasl.sasl_authenticate),
    keys.DESCRIBE_CLUSTER: (
        (),
        ("endpoint_type", "controller_id", "brokers.broker_id"),
        cluster.describe_cluster,
    ),
    keys.CONSUMER_GROUP_HEARTBEAT: (
        _HEARTBEAT,
        ("member_id", "member_epoch", "assignment"),
        groups.group_heartbeat,
    ),
    keys.SHARE_GROUP_HEARTBEAT: (
        _HEARTBEAT,
        ("member_id", "member_epoch", "assignment"),
        groups.group_heartbeat,
    ),
    keys.SHARE_FETCH: (
        (
            "group_id",
            "member_id",
            "share_session_epoch",
            "topics.topic_id",
            "topics.partitions.partition_index",
        ),
        (
            "responses.topic_id",
            "responses.partitions.partition_index",
            "responses.partitions.records",
        ),
        records.share_fetch,
    ),
    keys.STREAMS_GROUP_HEARTBEAT: (
        _HEARTBEAT,
        ("member_id", "member_epoch", "active_tasks"),
        groups.streams_heartbeat,
    ),
}
"""By API key: paths needed of the request, paths needed of the response, and the function that makes the
phrase."""


def _generic(exchange: Exchange) -> str:
    """Describe a request of any other API by those of its top-level fields that have a value."""
    if exchange.request_body is None:
        return ""
    layout = api(exchange.key).request.layout(exchange.version)
    secret = {path for name, _, path in SECRETS if name == exchange.api}
    names = tuple(slot.name for slot in layout.plain)
    fields = _fields(exchange, "request", names)
    body = {name: fields[name] for name in names}
    return listed(_described(body, secret), "field", WIDTH - 16)


def _described(body: Body, secret: set[str]) -> Iterator[str]:
    for name, value in body.items():
        match value:
            case None | "" | [] | False | -1:
                continue
            case bytes():
                yield f"{name}={size(len(value))}"
            case list():
                yield f"{name}={len(value)}"
            case uuid.UUID():
                yield f"{name}={uuid_text(value)[:8]}"
            case dict():
                continue
            case _ if name in secret:
                continue
            case True:
                yield name
            case _:
                yield f"{name}={value}"
