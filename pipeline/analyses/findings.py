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

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Check, Finding, Together
from barnabas.captures.kafka.context import Context
from barnabas.pipeline.analyses.expressions import CLIENT_KEY, HOST, captured
from barnabas.pipeline.rows.bodies import bodies
from barnabas.pipeline.rows.columns import Column, arrow, ddl
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
    """SQL: the exchanges that say anything to one of the checks, beside those of the APIs that one reads."""
    reads: str
    """SQL: those of which one reads the bodies, beside the same; others travel without."""

    def also(self, condition: str) -> str:
        """SQL: exchanges that meet it, or are of an API that one of the checks reads."""
        apis = sorted({api for check in CHECKS if check.scope == self.by for api in check.reads})
        named = f"api in ({', '.join(map(repr, apis))})" if apis else "false"
        return f"({condition}) or {named}"


# fmt: off
SCOPES: Final = (
    Scope("connection", "cast(connection as string)",
          "true", "api = 'Produce' and latency_ms is null"),
    Scope("broker", "coalesce(concat('broker ', named_broker), concat('connection ', connection))",
          "key >= 0", "false"),
    Scope("host", HOST, "ordinal = 0 or error <> ''", "error <> ''"),
    Scope("client", CLIENT_KEY, "false", "false"),
    Scope("group", "`group`", "false", "false"),
)
# fmt: on
"""All scopes but PRODUCER: see `_producers`."""

PRODUCER: Final = "producer"
"""The scope whose key is a producer id: of the producer itself what it sends, and of each connection that
it uses how far the others' requests have come."""

ORDER: Final = ("end_ns", "packet", "connection", "ordinal")
"""Exchanges end in this order."""

RECORDS: Final = '"records":"[A-Za-z0-9+/=]*"'
"""As JSON text; within a string its quotes would be escaped."""

NEVER: Final = (1 << 63) - 1

_KEPT: Final = (
    *(
        "capture",
        "connection",
        "ordinal",
        "client_address",
        "server_address",
        "client_id",
        "broker",
    ),
    *("named_broker", "key", "version", "correlation_id", "request_size", "response_size", "ts_ns"),
    *("latency_ms", "broker_ms", "rules", "note", "request_packet", "response_packet", "sasl"),
    *("losses", "end_ns"),
)


def findings(exchanges: DataFrame) -> DataFrame:
    """What do the exchanges show to be wrong? The findings of `barnabas check`.

    Needs `end_ns`, `losses` and `named_broker`; what a check says it holds for, holds here too.
    """
    seen = captured(exchanges)
    ordered = (
        _keyed(seen)
        .unionByName(_producers(seen))
        .withColumn("end_ns", F.coalesce("end_ns", F.lit(NEVER)))
        .withColumn("packet", F.coalesce(F.nullif("response_packet", F.lit(0)), "request_packet"))
        .repartition("capture", "by", "of")
        .sortWithinPartitions("capture", "by", "of", *ORDER)
    )
    return ordered.mapInArrow(checked, ddl(COLUMNS))


def _keyed(exchanges: DataFrame) -> DataFrame:
    """A row an exchange and scope, with its bodies as text where a check reads them."""
    scopes = F.array(
        *(
            F.when(
                F.expr(scope.also(scope.sees)),
                F.struct(
                    F.lit(scope.by).alias("by"),
                    F.expr(scope.key).alias("of"),
                    F.coalesce(F.expr(scope.also(scope.reads)), F.lit(False)).alias("reads"),
                ),
            )
            for scope in SCOPES
        )
    )
    return (
        exchanges.select(*_KEPT, "api", "group", "error", "body")
        .withColumn("one", F.explode(F.array_compact(scopes)))
        .where("one.of is not null")
        .select(*_KEPT, "one.by", "one.of", _text(F.col("one.reads")))
    )


def _producers(exchanges: DataFrame) -> DataFrame:
    """A row an exchange and producer id that its connection, or itself, is about."""
    used = (
        exchanges.where("api = 'Produce' and producer_id >= 0")
        .groupBy("capture", "connection")
        .agg(F.collect_set("producer_id").alias("used"))
    )
    none = F.array().cast("array<bigint>")
    given = F.try_variant_get("body", "$.response.producer_id", "bigint")
    begins = F.col("api").isin("InitProducerId", "EndTxn")
    own = F.when(begins, F.array_compact(F.array("producer_id", given))).otherwise(none)
    mine = F.col("of") == F.col("producer_id")
    return (
        exchanges.select(*_KEPT, "api", "producer_id", "body")
        .join(used, ["capture", "connection"], "left")
        .withColumn("of", F.explode(F.array_union(F.coalesce("used", none), own)))
        .where("of >= 0")
        .withColumn("reads", begins | ((F.col("api") == "Produce") & mine))
        .select(
            *_KEPT,
            F.lit(PRODUCER).alias("by"),
            F.col("of").cast("string").alias("of"),
            _text(F.coalesce("reads", F.lit(False))),
        )
    )


def _text(reads: Any) -> Any:
    """No check looks at the records that a Fetch brings: they stay where they are."""
    text = F.to_json("body")
    light = F.regexp_replace(text, RECORDS, '"records":null')
    return F.when(reads, F.when(F.col("api") == "Fetch", light).otherwise(text)).alias("text")


def checked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The findings of rows that come in the order of keys and of their ends."""
    schema = arrow(COLUMNS)
    rows = (row for batch in batches for row in batch.to_pylist())
    for (capture, by, _), mine in groupby(
        rows, key=lambda row: (row["capture"], row["by"], row["of"])
    ):
        found = [_row(capture, check, finding) for check, finding in _run(by, mine)]
        if found:
            yield pa.RecordBatch.from_pylist(found, schema=schema)


def _run(by: str, rows: Iterable[dict[str, Any]]) -> Iterator[tuple[Check, Finding]]:
    """As barnabas.captures.checks.running does it; what the context says was put into the rows before."""
    context = Context()
    begun = [(check, check.begin(check.settings)) for check in CHECKS if check.scope == by]
    for row in rows:
        sent, came, topics = bodies(row["key"], row["version"], row["text"])
        context.topics.update(topics)
        one = exchange({**row, "request_body": sent, "response_body": came})
        if by == "client":
            one.broker = row["broker"]  # as context.brokers has it
        for check, see in begun:
            for finding in see(one, context):
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
