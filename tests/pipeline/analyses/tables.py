"""Exchanges as the table that analyses read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from barnabas.captures.kafka.client_software import software_of
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.pipeline.rows.columns import EXCHANGES, Column, arrow
from barnabas.pipeline.rows.exchanges import batch, row
from tests.pipeline.given import body_text
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE = (*EXCHANGES, Column("body", "string", "as JSON text"))


def rows(exchanges: Iterable[Exchange], capture: str = "c") -> list[dict[str, Any]]:
    """Rows of exchanges that are given in the order in which they end."""
    return [_row(one, context, capture, None) for one, context in _learnt(exchanges)]


def captured(name: str) -> list[dict[str, Any]]:
    """Rows of a sample, with when each exchange was over."""
    now = 0

    def watched() -> Iterator[Event]:
        nonlocal now
        for event in CaptureReader(SAMPLES / name):
            now = event.ts_ns
            yield event

    found = Conversations(inferred=True, strays=True).exchanges(watched())
    return [_row(one, context, name, now) for one, context in _learnt(found)]


def found_in(name: str) -> Iterator[Exchange]:
    """The exchanges of a sample, as checks see them."""
    return Conversations(strays=True).exchanges(CaptureReader(SAMPLES / name))


def table(spark: SparkSession, found: list[dict[str, Any]]) -> DataFrame:
    """The table, with VARIANT bodies. What a row lacks is null."""
    whole = pa.Table.from_batches([batch(found, TABLE)], arrow(TABLE))
    return spark.createDataFrame(whole).withColumn("body", F.parse_json("body"))


def _learnt(exchanges: Iterable[Exchange]) -> Iterator[tuple[Exchange, Context]]:
    context = Context()
    for one in exchanges:
        context.learn(one)
        yield one, context


def _row(one: Exchange, context: Context, capture: str, end: int | None) -> dict[str, Any]:
    found = row(one, context, capture=capture, software=software_of(one), end_ns=end)
    return found | {"body": body_text(one, context.topics)}
