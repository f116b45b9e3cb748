"""`findings`: the checks of `captures.checks`, each over the exchanges that it compares.

A check sees the exchanges of a key in the order in which they end, like `barnabas check`, which has all
exchanges. A scope is as wide as the memory of its checks requires. One pass over the table serves all scopes.
The shuffled rows are narrow: columns of the exchange, and the facts of its bodies that the scope's checks
use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Check, Finding, ScopeName, finish
from barnabas.captures.kafka.context import Context
from barnabas.pipeline.analyses.expressions import CLIENT_KEY, HOST, captured, query
from barnabas.pipeline.rows.columns import STRUCTS, Column, arrow, ddl, ddl_type
from barnabas.pipeline.rows.exchanges import exchange

COLUMNS: Final = (
    Column("check", "string", "name of the check"),
    Column("severity", "string", "error, warning or note"),
    Column("connection", "bigint", "connection number of the last evidence"),
    Column("packets", "array<bigint>", "packet numbers of the evidence as in Wireshark, ascending"),
    Column("ts", "timestamp", "when it was seen"),
    Column("text", "string", "the finding"),
    Column("advice", "string", "what to do about it"),
    Column("client", "string", "client id of the last evidence, or its address"),
    Column("api", "string", "API of the last evidence"),
    Column("capture", "string", "name of the capture"),
    Column("topic", "string", "the topic that it is about; null: none, or several"),
    Column("group", "string", "the group that it is about, or null"),
    Column("broker", "int", "node id of the broker of the last evidence, or null"),
)


class Scope(NamedTuple):
    """A key by which exchanges are grouped, for the checks that remember by this key."""

    by: ScopeName
    key: str
    """SQL: the key of an exchange; null: no check of the scope needs it."""
    sees: str
    """SQL: the exchanges that are relevant to one of the checks."""
    facts: Mapping[str, str]
    """The facts of bodies that its checks use, by field of `seen`: SQL."""
    each: str = "array(0)"
    """SQL: an array; the exchange is repeated for each element, `one`."""


PARTS: Final = 16
"""The number of parts of a client's partitions; an exchange is repeated for each part that it concerns."""

PART: Final = f"pmod(hash(place.topic, place.partition), {PARTS})"
"""SQL: the part of a partition."""

# fmt: off
SCOPES: Final = (
    Scope("connection", "cast(connection as string)", "true",
          {"acks": "seen.acks", "flaws": "seen.flaws",
           "places": "if(api in ('Fetch', 'ShareFetch'), seen.places, null)"}),
    Scope("broker", "coalesce(concat('broker ', named_broker), concat('connection ', connection))",
          "key >= 0", {"offered": "seen.offered"}),
    Scope("host", HOST, "ordinal = 0 or seen.request_hash is not null",
          {"request_hash": "seen.request_hash"}),
    Scope("group", "`group`", "seen.`group` is not null",
          {"group": "seen.`group`", "places": "if(api = 'OffsetCommit', seen.places, null)"}),
    Scope("partition", f"concat_ws('/', {CLIENT_KEY}, cast(one as string))",
          "api in ('Produce', 'Fetch', 'Metadata')",
          {"acks": "seen.acks", "responded": "seen.responded",
           "places": f"filter(seen.places, place -> {PART} = one)"},
          f"array_distinct(transform(filter(seen.places, place -> place.partition >= 0), place -> {PART}))"),
    # a producer's check also sees the progress of other producers on its connections
    Scope("producer", "cast(one as string)", "true",
          {"begun": "seen.begun", "places": "filter(seen.places, place -> place.producer_id = one)"},
          "array_union(coalesce(used, array()), array_compact(array(seen.begun.producer_id)))"),
)
# fmt: on

ORDER: Final = ("end_ns", "packet", "connection", "ordinal")
"""The order in which exchanges end."""

NEVER: Final = (1 << 63) - 1

AT_ONCE: Final = 1000
"""The most findings of a batch."""

ROW_COLUMNS: Final = (
    *("capture", "connection", "ordinal", "client_address", "client_id", "broker"),
    *("named_broker", "key", "version", "correlation_id", "ts_ns", "latency_ms", "rules", "note"),
    *("request_packet", "response_packet", "losses", "error"),
)
"""Columns of an exchange that checks use, besides `seen`."""


def findings(exchanges: DataFrame) -> DataFrame:
    """Run the checks of `barnabas check` over all exchanges.

    Responses without a request are in `errors` instead. The guarantees of each check hold here, too.

    Bodies are not read: the facts that checks use were extracted when the table was made. The input needs the
    columns `end_ns`, `losses`, `named_broker` and `seen`.
    """
    each = query(
        f"""\
WITH ids AS (
  SELECT capture, connection, explode(seen.places.producer_id) AS id FROM {{exchanges}} WHERE api = 'Produce'
), producers AS (
  SELECT capture, connection, collect_set(id) AS used FROM ids WHERE id IS NOT NULL
  GROUP BY capture, connection
), keyed AS (
  SELECT /*+ BROADCAST(producers) */ *, explode(flatten(array({", ".join(map(_rows, SCOPES))}))) AS row
  FROM {{exchanges}} LEFT JOIN producers USING (capture, connection)
)
SELECT {", ".join(ROW_COLUMNS)}, end_ns, row.* FROM keyed""",
        captured(exchanges).select(*ROW_COLUMNS, "end_ns", "api", "group", "seen"),
    )
    return in_order(each, "capture", "by", "of").mapInArrow(checked, ddl(COLUMNS))


def in_one_pass(exchanges: DataFrame) -> DataFrame:
    """Run the checks in one task, which sees each exchange once, without a shuffle."""
    narrow = captured(exchanges).selectExpr(
        *ROW_COLUMNS, "end_ns", "seen", "null as by", "null as of"
    )
    return in_order(narrow.coalesce(1), "capture").mapInArrow(checked, ddl(COLUMNS))


def in_order(exchanges: DataFrame, *keys: str) -> DataFrame:
    """Return exchanges grouped by keys, in the order in which they end."""
    packet = F.expr("coalesce(nullif(response_packet, 0), request_packet)")
    ends = {"end_ns": F.coalesce("end_ns", F.lit(NEVER)), "packet": packet}
    # Sail drops a sort before a function of Python, but not that of a window
    row_number = F.row_number().over(Window.partitionBy(*keys).orderBy(*ORDER))
    return exchanges.withColumns(ends).withColumn("row_number", row_number)


def _rows(scope: Scope) -> str:
    """Return SQL: an exchange's keys in a scope, each with the facts that the checks use."""
    facts = ", ".join(
        f"'{column.name}', cast({scope.facts.get(column.name, 'null')} as {ddl_type(column.type)})"
        for column in STRUCTS["seen"]
    )
    row = f"named_struct('by', '{scope.by}', 'of', {scope.key}, 'seen', named_struct({facts}))"
    rows = f"transform({scope.each}, one -> {row})"
    return (
        f"if({scope.sees}, coalesce(filter({rows}, row -> row.of is not null), array()), array())"
    )


def rows_by(
    batches: Iterable[pa.RecordBatch], *keys: str
) -> Iterator[tuple[tuple[Any, ...], Iterator[dict[str, Any]]]]:
    """Yield the values of keys with their rows, of rows that are ordered by keys."""
    rows = (row for batch in batches for row in batch.to_pylist())
    return groupby(rows, key=itemgetter(*keys))


def checked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the findings of rows that are ordered by keys and ends; without a key, of all checks."""
    schema = arrow(COLUMNS)
    for (capture, by, _), rows in rows_by(batches, "capture", "by", "of"):
        checks = [check for check in CHECKS if by in (None, check.scope)]
        finding_rows = (_row(capture, *result) for result in _run(checks, rows))
        while batch_rows := list(islice(finding_rows, AT_ONCE)):
            yield pa.RecordBatch.from_pylist(batch_rows, schema=schema)


def _run(
    checks: Sequence[Check], rows: Iterable[dict[str, Any]]
) -> Iterator[tuple[Check, Finding, int | None]]:
    """Run the checks as barnabas.captures.checks.runner does, with the broker of each finding.

    The rows have what the context would add.
    """
    context = Context()
    brokers: dict[int, int | None] = {}
    running = [(check, check.begin(check.settings)) for check in checks]
    for row in rows:
        current = exchange(row)
        context.brokers.nodes[current.server_address] = row["broker"]
        brokers[current.connection] = row["broker"]
        for check, see in running:
            for finding in see(current, context):
                yield check, finding, brokers.get(finding.evidence[-1].connection)
    for check, see in running:
        for finding in finish(see):
            yield check, finding, brokers.get(finding.evidence[-1].connection)


def _row(capture: str, check: Check, finding: Finding, broker: int | None) -> dict[str, Any]:
    last = finding.evidence[-1]
    return {
        "check": check.name,
        "severity": finding.severity,
        "connection": last.connection,
        "packets": sorted(packet for each in finding.evidence for packet in each.packets),
        "ts": finding.ts // 1000,
        "text": finding.what,
        "advice": finding.advice,
        "client": last.client,
        "api": last.api,
        "capture": capture,
        "topic": finding.topic,
        "group": finding.group,
        "broker": broker,
    }
