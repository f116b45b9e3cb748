"""`hot_partitions`: the distribution of records and bytes over partitions."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import query
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("topic", "string", "name of the topic, or its id"),
    Column("partition", "int", "index of the partition"),
    Column("produced_records", "bigint", "records that brokers accepted, or that were sent with acks=0"),
    Column("produced_bytes", "bigint", "their bytes, compressed as on the wire"),
    Column("produced_requests", "bigint", "Produce requests with records"),
    Column("fetched_records", "bigint", "records that clients fetched"),
    Column("fetched_bytes", "bigint", "their bytes"),
    Column("fetched_requests", "bigint", "Fetch and ShareFetch responses with records"),
    Column("share", "double", "share of all bytes, produced and fetched: 0 to 1"),
)  # fmt: skip


def hot_partitions(exchanges: DataFrame) -> DataFrame:
    """Measure the load of each partition.

    A few partitions far above the others indicate a bad key, or too few partitions.

    Fetches of replicas do not count. Records of compressed messages of magic 0 and 1 are not counted.
    """
    return query(
        """\
WITH items AS (
  SELECT api = 'Produce' AS produced, explode(partitions) AS item FROM {exchanges}
  WHERE api IN ('Produce', 'ShareFetch') OR (api = 'Fetch' AND seen.places IS NOT NULL)
), sums AS (
  SELECT item.topic, item.partition,
    coalesce(sum(if(produced, item.records, 0)), 0) AS produced_records,
    sum(if(produced, item.bytes, 0)) AS produced_bytes, count_if(produced) AS produced_requests,
    coalesce(sum(if(produced, 0, item.records)), 0) AS fetched_records,
    sum(if(produced, 0, item.bytes)) AS fetched_bytes, count_if(NOT produced) AS fetched_requests
  FROM items WHERE coalesce(item.error_code, 0) = 0 AND item.bytes > 0
  GROUP BY item.topic, item.partition
)
SELECT *, (produced_bytes + fetched_bytes) / sum(produced_bytes + fetched_bytes) OVER () AS share
FROM sums""",
        exchanges,
    )
