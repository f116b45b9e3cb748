"""`findings`: the checks of `captures.checks`, each over what belongs together, wherever it is stored.

A check sees the exchanges of a key in the order in which they end, as `barnabas check` does, which has
them all: a scope is as wide as what one of its checks remembers. One pass over the table serves all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from captures.checks import CHECKS
from captures.checks.finding import Check, Finding
from captures.context import Context
from pipeline.analyses.expressions import host
from pipeline.bodies import bodies
from pipeline.columns import Column, arrow, ddl
from pipeline.rows import exchange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = (
    Column("check", "string", "name of the check"),
    Column("severity", "string", "error, warning or note"),
    Column("connection", "bigint", "number of the connection of the last evidence"),
    Column("packets", "array<bigint>", "of the evidence, as Wireshark numbers them, ascending"),
    Column("ts", "timestamp", "when it showed"),
    Column("text", "string", "what was found"),
    Column("advice", "string", "what to do about it"),
    Column("client", "string", "client id of the last evidence, or its address"),
    Column("api", "string", "API of the last evidence"),
    Column("capture", "string", "which capture it is of"),
)


class Scope(NamedTuple):
    """What belongs together: checks that remember by the same key."""

    by: str
    key: str
    """SQL: the key of an exchange; null: it is nobody's business."""
    checks: tuple[str, ...]
    sees: str
    """SQL: the exchanges that say anything to one of these checks."""
    reads: str
    """SQL: those of which one reads the bodies; others travel without."""


CLIENT: Final = "concat(regexp_replace(client_address, ':[0-9]+$', ''), '/', client_id)"

# fmt: off
SCOPES: Final = (
    Scope("connection", "cast(connection as string)", ("responses", "correlation_ids", "fetch_loops"),
          "true", "api in ('Produce', 'Fetch')"),
    Scope("broker", "coalesce(concat('broker ', named_broker), concat('connection ', connection))",
          ("versions",), "key >= 0", "api = 'ApiVersions'"),
    Scope("host", "regexp_replace(client_address, ':[0-9]+$', '')", ("backoff",),
          "ordinal = 0 or error <> ''", "error <> ''"),
    Scope("client", f"coalesce({CLIENT}, client_address)", ("leaders", "order"),
          "api in ('Produce', 'Fetch', 'Metadata')", "true"),
    Scope("group", "`group`", ("heartbeats", "joins", "commits", "group_states", "member_epochs"),
          "api in ('JoinGroup', 'SyncGroup', 'Heartbeat', 'LeaveGroup', 'OffsetCommit', "
          "'TxnOffsetCommit', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', "
          "'StreamsGroupHeartbeat')", "true"),
)
# fmt: on
"""All checks but `sequences`, whose key is a producer id: see `_producers`."""

PRODUCER: Final = "producer"
"""The scope of `sequences`: of the producer itself what it sends, and of each connection that it uses
how far the others' requests have come."""

ORDER: Final = ("end_ns", "packet", "connection", "ordinal")
"""Exchanges end in this order."""

NEVER: Final = (1 << 63) - 1

_KEPT: Final = (
    *("capture", "connection", "ordinal", "client_address", "server_address", "client_id", "broker"),
    *("named_broker", "key", "version", "correlation_id", "request_size", "response_size", "ts_ns"),
    *("latency_ms", "broker_ms", "rules", "note", "request_packet", "response_packet", "sasl"),
    *("losses", "end_ns"),
)
