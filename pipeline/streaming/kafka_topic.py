"""Sends exchanges of a followed folder to a Kafka topic, by Spark's own sink.

A record is an exchange. Its key is the connection, so that a connection's exchanges are in one partition and
in order. Its value is JSON: the columns of `exchanges` that are not null, `body` as `body_json`, and `id`,
which is unique. A repeated batch sends its records again: at least once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from barnabas.pipeline.rows.columns import BODY_JSON, EXCHANGES
from barnabas.pipeline.tables.tables import read

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

CONNECTOR: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
"""The package with Spark's sink, by its Maven coordinates; Spark 4.3.0 accepts it."""

MOST: Final = 1_000_000
"""The most bytes of a value: a broker accepts 1,048,588 bytes with headers by default (message.max.bytes)."""

ENDLESS: Final = frozenset(("topics", "partitions", "seen", BODY_JSON.name))
"""Columns that are left out of a value of more than MOST; `cut` marks it."""


class Topic(NamedTuple):
    """The destination of exchanges."""

    servers: str
    """HOST:PORT of brokers, separated by commas."""
    name: str
    properties: Mapping[str, str] = {}
    """Further settings of the producer."""


def send(spark: SparkSession, tables: Path, topic: Topic) -> None:
    """Send the exchanges of a folder of tables, and wait until the brokers have them.

    Raises PySparkException, Py4JError.
    """
    options = {**topic.properties, "bootstrap.servers": topic.servers}
    sink = records(read(spark, tables, "exchanges")).write.format("kafka")
    for name, value in options.items():
        sink = sink.option(f"kafka.{name}", value)
    sink.option("topic", topic.name).save()


def records(exchanges: DataFrame) -> DataFrame:
    """Return keys and values, by connection and in the order of requests."""
    from pyspark.sql import functions as f

    connection = ("capture", "connection")
    made_of = {
        "id": f.concat_ws("/", *connection, "ordinal"),
        **{column.name: f.col(column.name) for column in EXCHANGES},
        BODY_JSON.name: f.to_json("body"),
    }

    whole = _json(made_of)
    head = {name: column for name, column in made_of.items() if name not in ENDLESS}
    short = _json({**head, "cut": f.lit(True)})
    return (
        exchanges.repartition(*connection)
        .sortWithinPartitions(*connection, "ordinal")
        .select(
            f.concat_ws("/", *connection).alias("key"),
            f.when(f.octet_length(whole) > MOST, short).otherwise(whole).alias("value"),
        )
    )


def _json(columns: Mapping[str, Column]) -> Column:
    from pyspark.sql import functions as f

    return f.to_json(f.struct(*(column.alias(name) for name, column in columns.items())))
