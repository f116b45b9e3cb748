"""Which fields the columns of each API are made of, and by which function.

All versions are served: a path that a version lacks is left out. Of an API that does not stand here
the topics, the group and the transaction are known all the same: they are found in the layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.pipeline.rows.body_columns import groups, offsets, records, transactions
from barnabas.pipeline.rows.body_columns.topics import Body, Names

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
"""The columns that these functions make, each of them some."""


class Hot(NamedTuple):
    """An API's: dotted paths needed of the request and of the response, and what makes columns of
    them: (fields of the request, of the response, names of topics) -> columns by name."""

    request: tuple[str, ...]
    response: tuple[str, ...]
    make: Callable[[Body, Body, Names], Body]


_COMMIT: Final = (
    "member_id",
    "generation_id_or_member_epoch",
    "producer_id",
    "producer_epoch",
    *("topics." + name for name in ("name", "topic_id")),
    *("topics.partitions." + name for name in ("partition_index", "committed_offset")),
)
_COMMITTED: Final = (
    *("topics." + name for name in ("name", "topic_id")),
    *("topics.partitions." + name for name in ("partition_index", "error_code")),
)
_STORED: Final = (*_COMMITTED, "topics.partitions.committed_offset")
_BEAT: Final = ("member_id", "member_epoch")
_PRODUCER: Final = ("producer_id", "producer_epoch")
_FETCHED: Final = (
    *("responses." + name for name in ("topic", "topic_id")),
    *(
        "responses.partitions." + name
        for name in ("partition_index", "error_code", "high_watermark", "records")
    ),
)

HOT: Final[dict[int, Hot]] = {
    0: Hot(
        ("acks", "topic_data"),
        (
            *("responses." + name for name in ("name", "topic_id")),
            *(
                "responses.partition_responses." + name
                for name in ("index", "error_code", "base_offset")
            ),
        ),
        records.produce,
    ),
    1: Hot(
        (
            *("topics." + name for name in ("topic", "topic_id")),
            *("topics.partitions." + name for name in ("partition", "fetch_offset")),
            "forgotten_topics_data",
        ),
        _FETCHED,
        records.fetch,
    ),
    2: Hot(
        ("topics.name", "topics.partitions.partition_index"),
        (*_COMMITTED, *("topics.partitions." + name for name in ("offset", "old_style_offsets"))),
        offsets.list_offsets,
    ),
    8: Hot(_COMMIT, _COMMITTED, offsets.offset_commit),
    9: Hot(
        (
            "topics",
            *("groups." + name for name in ("group_id", "member_id", "member_epoch", "topics")),
        ),
        (*_STORED, *("groups." + path for path in _STORED)),
        offsets.offset_fetch,
    ),
    11: Hot(("member_id",), ("generation_id", "member_id"), groups.join_group),
    12: Hot(("generation_id", "member_id"), (), groups.classic),
    13: Hot(("member_id", "members.member_id"), (), groups.leave_group),
    14: Hot(("generation_id", "member_id"), ("assignment",), groups.sync_group),
    22: Hot(_PRODUCER, _PRODUCER, transactions.init_producer_id),
    24: Hot(
        (
            *("transactions." + name for name in ("transactional_id", *_PRODUCER, "topics")),
            *("v3_and_below_" + name for name in (*_PRODUCER, "topics")),
        ),
        ("results_by_transaction", "results_by_topic_v3_and_below"),
        transactions.add_partitions_to_txn,
    ),
    25: Hot(_PRODUCER, (), transactions.end_txn),
    26: Hot(_PRODUCER, (), transactions.end_txn),
    27: Hot(
        ("markers.producer_id", "markers.producer_epoch", "markers.topics"),
        (),
        transactions.write_txn_markers,
    ),
    28: Hot(_COMMIT, _COMMITTED, offsets.offset_commit),
    68: Hot(_BEAT, ("member_id", "assignment"), groups.group_heartbeat),
    76: Hot(_BEAT, ("member_id", "assignment"), groups.group_heartbeat),
    78: Hot(
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
    88: Hot(_BEAT, ("member_id",), groups.streams_heartbeat),
}
"""By API key."""
