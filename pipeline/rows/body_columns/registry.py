"""The fields from which each API's typed columns are made, and the functions that make them.

All versions are supported: paths that a version lacks are ignored. For other APIs the topics, the group and
the transaction are known, too: they are found in the layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.pipeline.rows.body_columns import groups, offsets, records, transactions
from barnabas.pipeline.rows.body_columns.topics import Body, Names
from barnabas.specs import keys

MADE: Final = (
    "topics",
    "partitions",
    "member",
    "generation",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "acks",
    "records",
)
"""The columns that these functions make; each function makes some of them."""


class TypedColumns(NamedTuple):
    """The fields that an API's typed columns are made of (dotted paths), and the function that makes them.

    The function takes (fields of the request, of the response, names of topics), and returns columns by name.
    """

    request: tuple[str, ...]
    response: tuple[str, ...]
    make: Callable[[Body, Body, Names], Body]


def _of(struct_path: str, *names: str) -> tuple[str, ...]:
    """Return the paths of some fields of a structure."""
    return tuple(f"{struct_path}.{name}" for name in names)


_PRODUCER: Final = ("producer_id", "producer_epoch")
_TOPIC: Final = _of("topics", "name", "topic_id")
_COMMIT: Final = (
    *("member_id", "generation_id_or_member_epoch", *_PRODUCER, *_TOPIC),
    *_of("topics.partitions", "partition_index", "committed_offset"),
)
_COMMITTED: Final = (*_TOPIC, *_of("topics.partitions", "partition_index", "error_code"))
_STORED: Final = (*_COMMITTED, "topics.partitions.committed_offset")
_BEAT: Final = ("member_id", "member_epoch")
_FETCHED: Final = (
    *_of("responses", "topic", "topic_id"),
    *_of("responses.partitions", "partition_index", "error_code", "high_watermark", "records"),
)

TYPED_COLUMNS: Final[dict[int, TypedColumns]] = {
    keys.PRODUCE: TypedColumns(
        ("acks", "topic_data"),
        (
            *_of("responses", "name", "topic_id"),
            *_of("responses.partition_responses", "index", "error_code", "base_offset"),
        ),
        records.produce,
    ),
    keys.FETCH: TypedColumns(
        (
            *_of("topics", "topic", "topic_id"),
            *_of("topics.partitions", "partition", "fetch_offset"),
            "forgotten_topics_data",
        ),
        _FETCHED,
        records.fetch,
    ),
    keys.LIST_OFFSETS: TypedColumns(
        ("topics.name", "topics.partitions.partition_index"),
        (*_COMMITTED, *_of("topics.partitions", "offset", "old_style_offsets")),
        offsets.list_offsets,
    ),
    keys.OFFSET_COMMIT: TypedColumns(_COMMIT, _COMMITTED, offsets.offset_commit),
    keys.OFFSET_FETCH: TypedColumns(
        ("topics", *_of("groups", "group_id", "member_id", "member_epoch", "topics")),
        (*_STORED, *_of("groups", *_STORED)),
        offsets.offset_fetch,
    ),
    keys.JOIN_GROUP: TypedColumns(
        ("member_id",), ("generation_id", "member_id"), groups.join_group
    ),
    keys.HEARTBEAT: TypedColumns(("generation_id", "member_id"), (), groups.classic),
    keys.LEAVE_GROUP: TypedColumns(("member_id", "members.member_id"), (), groups.leave_group),
    keys.SYNC_GROUP: TypedColumns(
        ("generation_id", "member_id"), ("assignment",), groups.sync_group
    ),
    keys.INIT_PRODUCER_ID: TypedColumns(_PRODUCER, _PRODUCER, transactions.init_producer_id),
    keys.ADD_PARTITIONS_TO_TXN: TypedColumns(
        (
            *_of("transactions", "transactional_id", *_PRODUCER, "topics"),
            *("v3_and_below_" + name for name in (*_PRODUCER, "topics")),
        ),
        ("results_by_transaction", "results_by_topic_v3_and_below"),
        transactions.add_partitions_to_txn,
    ),
    keys.ADD_OFFSETS_TO_TXN: TypedColumns(_PRODUCER, (), transactions.end_txn),
    keys.END_TXN: TypedColumns(_PRODUCER, (), transactions.end_txn),
    keys.WRITE_TXN_MARKERS: TypedColumns(
        _of("markers", "producer_id", "producer_epoch", "topics"),
        (),
        transactions.write_txn_markers,
    ),
    keys.TXN_OFFSET_COMMIT: TypedColumns(_COMMIT, _COMMITTED, offsets.offset_commit),
    keys.CONSUMER_GROUP_HEARTBEAT: TypedColumns(
        _BEAT, ("member_id", "assignment"), groups.group_heartbeat
    ),
    keys.SHARE_GROUP_HEARTBEAT: TypedColumns(
        _BEAT, ("member_id", "assignment"), groups.group_heartbeat
    ),
    keys.SHARE_FETCH: TypedColumns(
        (
            "member_id",
            "share_session_epoch",
            "topics.topic_id",
            "topics.partitions.partition_index",
            "forgotten_topics_data",
        ),
        _FETCHED,
        records.fetch,
    ),
    keys.STREAMS_GROUP_HEARTBEAT: TypedColumns(_BEAT, ("member_id",), groups.streams_heartbeat),
}
"""By API key."""
