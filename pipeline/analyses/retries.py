"""`retries`: storms of requests that fail repeatedly with the same error."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import (
    NS,
    captured,
    moment,
    query,
    with_request,
    without_negotiation,
)
from barnabas.pipeline.rows.columns import Column

APART_MS: Final = 1000
"""retry.backoff.max.ms of Java's clients: attempts with a longer pause are no storm."""

ATTEMPTS: Final = (
    "PARTITION BY capture, host, client_id, api, error ORDER BY ts_ns, connection, ordinal"
)
"""SQL: the window of a client's failures with an API and error."""

LEAST: Final = 5
"""The fewest attempts of a storm."""

COLUMNS: Final = (
    Column("client_id", "string", "the client, or null"),
    Column("api", "string", "name of the API"),
    Column("error", "string", "error of each attempt"),
    Column("start", "timestamp", "time of the first attempt"),
    Column("end", "timestamp", "time of the last response"),
    Column("attempts", "bigint", "number of attempts"),
    Column("rate", "double", "attempts per second; null if all came at once"),
    Column("shortest_pause_ms", "double", "shortest time from a response to the next attempt"),
    Column("host", "string", "the client's address"),
    Column("capture", "string", "name of the capture"),
)


def retries(exchanges: DataFrame) -> DataFrame:
    """Find clients that load brokers with failing requests.

    A client should back off after an error, longer each time (retry.backoff.ms, KIP-580): frequent retries
    may overload a broker in trouble.

    Attempts are a client's failures with one API and error, for any topic or group. Version negotiation does
    not count.
    """
    return query(
        f"""\
WITH paused AS (
  SELECT *, coalesce(answered_ns, ts_ns) AS done_ns,
    (ts_ns - lag(coalesce(answered_ns, ts_ns)) OVER ({ATTEMPTS})) / {NS}D AS pause_ms
  FROM {{exchanges}} WHERE error <> ''
), attempts AS (
  SELECT *, sum(if(pause_ms <= {APART_MS}, 0, 1)) OVER ({ATTEMPTS}) AS storm FROM paused
)
SELECT client_id, api, error, min(ts) AS start, {moment("max(done_ns)")} AS end, count(*) AS attempts,
  (count(*) - 1) * 1000 / nullif((max(ts_ns) - min(ts_ns)) / {NS}D, 0D) AS rate,
  min(if(pause_ms <= {APART_MS}, greatest(pause_ms, 0D), NULL)) AS shortest_pause_ms, host, capture
FROM attempts GROUP BY capture, host, client_id, api, error, storm HAVING count(*) >= {LEAST}""",
        without_negotiation(captured(with_request(exchanges))),
    )
