"""`findings`: the checks of `captures.checks`, each over what belongs together, wherever it is stored.

A check sees the exchanges of a key in the order in which they end, as `barnabas check` does, which has
them all: a scope is as wide as what one of its checks remembers. One pass over the table serves all, and
what is shuffled is narrow: the exchange's own columns and what the scope's checks see of its bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Check, Finding, Together, finish
from barnabas.captures.kafka.context import Context
from barnabas.pipeline.analyses.expressions import CLIENT_KEY, HOST, captured
from barnabas.pipeline.rows.columns import STRUCTS, Column, arrow, ddl, ddl_type
from barnabas.pipeline.rows.exchanges import exchange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
)


class Scope(NamedTuple):
    """What belongs together: the checks that say they remember by this key."""

    by: Together
    key: str
    """SQL: the key of an exchange; null: it is nobody's business."""
    sees: str
    """SQL: the exchanges that say anything to one of the checks."""
    facts: Mapping[str, str]
    """What its checks see of bodies, by field of `seen`: SQL."""
    each: str = "array(0)"
    """SQL: an array for whose every element, `one`, the exchange is there."""


PARTS: Final = 16
"""Into so many the partitions of a client are parted; an exchange is there once for each that it is about."""

PART: Final = f"pmod(hash(place.topic, place.partition), {PARTS})"
"""SQL: which of them a place is in."""

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
    # a producer is told, too, how far others' requests on its connections have come
    Scope("producer", "cast(one as string)", "true",
          {"begun": "seen.begun", "places": "filter(seen.places, place -> place.producer_id = one)"},
          "array_union(coalesce(used, array()), array_compact(array(seen.begun.producer_id)))"),
)
# fmt: on

ORDER: Final = ("end_ns", "packet", "connection", "ordinal")
"""Exchanges end in this order."""

NEVER: Final = (1 << 63) - 1

AT_ONCE: Final = 1000
"""Findings of a batch, at most."""

KEPT: Final = (
    *("capture", "connection", "ordinal", "client_address", "client_id", "broker"),
    *("named_broker", "key", "version", "correlation_id", "ts_ns", "latency_ms", "rules", "note"),
    *("request_packet", "response_packet", "losses", "error"),
)
"""What checks see of an exchange beside `seen`."""


def findings(exchanges: DataFrame) -> DataFrame:
    """What do the exchanges show to be wrong? The findings of `barnabas check`, but for responses that belong
    to no request, which are in `errors`.

    Needs `end_ns`, `losses`, `named_broker` and `seen`; what a check says it holds for, holds here too.
    Bodies stay where they are: what checks see of them was read when the table was made.
    """
    seen = captured(exchanges).select(*KEPT, "end_ns", "api", "group", "seen")
    rows = F.flatten(F.array(*(F.expr(_rows(scope)) for scope in SCOPES)))
    each = (
        seen.join(F.broadcast(_used(seen)), ["capture", "connection"], "left")
        .withColumn("row", F.explode(rows))
        .select(*KEPT, "end_ns", "row.*")
    )
    return in_order(each, "capture", "by", "of").mapInArrow(checked, ddl(COLUMNS))


def in_one_pass(exchanges: DataFrame) -> DataFrame:
    """The same of as much as one task can take: it sees each exchange once, and moves none."""
    seen = _ended(captured(exchanges).select(*KEPT, "end_ns", "seen"))
    return seen.coalesce(1).sort("capture", *ORDER).mapInArrow(checked_at_once, ddl(COLUMNS))


def in_order(exchanges: DataFrame, *keys: str) -> DataFrame:
    """What has a key in common together, as it ended."""
    return _ended(exchanges).repartition(*keys).sortWithinPartitions(*keys, *ORDER)


def _ended(exchanges: DataFrame) -> DataFrame:
    """With the columns of ORDER."""
    packet = F.coalesce(F.nullif("response_packet", F.lit(0)), "request_packet")
    end = F.coalesce("end_ns", F.lit(NEVER))
    return exchanges.withColumn("end_ns", end).withColumn("packet", packet)


def _rows(scope: Scope) -> str:
    """SQL: an exchange's keys in a scope, each with what the checks see."""
    facts = ", ".join(
        f"'{column.name}', cast({scope.facts.get(column.name, 'null')} as {ddl_type(column.type)})"
        for column in STRUCTS["seen"]
    )
    row = f"named_struct('by', '{scope.by}', 'of', {scope.key}, 'seen', named_struct({facts}))"
    rows = f"transform({scope.each}, one -> {row})"
    return (
        f"if({scope.sees}, coalesce(filter({rows}, row -> row.of is not null), array()), array())"
    )


def _used(exchanges: DataFrame) -> DataFrame:
    """The producers that use each connection."""
    return (
        exchanges.where("api = 'Produce'")
        .select("capture", "connection", F.explode("seen.places.producer_id").alias("id"))
        .where("id is not null")
        .groupBy("capture", "connection")
        .agg(F.collect_set("id").alias("used"))
    )


def checked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The findings of rows that come in the order of keys and of their ends."""
    for (capture, by, _), mine in groupby(_all(batches), key=itemgetter("capture", "by", "of")):
        yield from _found(capture, [check for check in CHECKS if check.scope == by], mine)


def checked_at_once(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same of rows that come in the order of captures and of their ends."""
    for capture, mine in groupby(_all(batches), key=itemgetter("capture")):
        yield from _found(capture, CHECKS, mine)


def _all(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    return (row for batch in batches for row in batch.to_pylist())


def _found(
    capture: str, checks: Sequence[Check], rows: Iterable[dict[str, Any]]
) -> Iterator[pa.RecordBatch]:
    schema = arrow(COLUMNS)
    found = (_row(capture, check, finding) for check, finding in _run(checks, rows))
    while some := list(islice(found, AT_ONCE)):
        yield pa.RecordBatch.from_pylist(some, schema=schema)


def _run(
    checks: Sequence[Check], rows: Iterable[dict[str, Any]]
) -> Iterator[tuple[Check, Finding]]:
    """As barnabas.captures.checks.running does it; what the context says was put into the rows before."""
    context = Context()
    begun = [(check, check.begin(check.settings)) for check in checks]
    for row in rows:
        one = exchange(row)
        context.brokers.nodes[one.server_address] = row["broker"]
        for check, see in begun:
            for finding in see(one, context):
                yield check, finding
    for check, see in begun:
        for finding in finish(see):
            yield check, finding


def _row(capture: str, check: Check, finding: Finding) -> dict[str, Any]:
    last = finding.evidence[-1]
    return {
        "check": check.name,
        "severity": finding.severity,
        "connection": last.connection,
        "packets": sorted(packet for one in finding.evidence for packet in one.packets),
        "ts": finding.ts // 1000,
        "text": finding.what,
        "advice": finding.advice,
        "client": last.client,
        "api": last.api,
        "capture": capture,
    }
