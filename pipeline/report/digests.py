"""The bounded results that the report shows: SQL over the tables, and the code that fetches the rows.

The report prints the SQL. Most digests have at most a few thousand rows; a longer one is cut at `MOST`, most
important rows first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.checks.finding import LISTED
from barnabas.captures.kafka.exchange import STRAY
from barnabas.captures.kafka.notes import INFERRED, NOT_CAPTURED, only_direction
from barnabas.pipeline.analyses import buckets, findings
from barnabas.pipeline.analyses.expressions import (
    CLIENT,
    HOST,
    query,
    with_request,
    without_negotiation,
)
from barnabas.pipeline.report.parts import Overview, Result
from barnabas.pipeline.report.plotting import MOST as LINES
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.report.rises import ENOUGH, GROUPS, LEAST, RISE, WAITS_MS
from barnabas.pipeline.report.sections.latency_heatmap import APIS, OTHERS
from barnabas.pipeline.report.sections.unread import MISSING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from barnabas.pipeline.tables.analysis_tables import StoredTable

COARSE: Final = 48
"""Time buckets of the latency of a client and a broker, which have fewer exchanges than all clients together.
"""

SERIES: Final = 60
"""The most series of client, broker and API whose latency over time is in the report."""

AS_IT_IS: Final = "SELECT * FROM {of}"
"""All rows."""

_SEVERITY: Final = "array_position(array('error', 'warning', 'note'), severity)"


class Digest(NamedTuple):
    """A result of the report."""

    name: str
    of: str
    """The folder of the table that it is made of."""
    sql: str = AS_IT_IS
    """The query over the table {of}."""
    order: tuple[str, ...] = ()
    """SQL: the order in which rows are retained if there are too many."""
    lists: bool = False
    """Whether it lists some rows of its table unchanged: then the remaining rows count, too."""

    @property
    def shown(self) -> str:
        """Return the query for readers, who have the tables of `barnabas.pipeline.tables.sql`."""
        sql = self.sql.format(of=self.of.replace("analyses/", "analysis_"))
        return f"{sql}\nORDER BY {', '.join(self.order)}" if self.order else sql


def _latency(keys: str, most: int) -> str:
    """Return the latency analysis with other keys and fewer buckets: percentiles can't be added."""
    return f"""\
WITH widths AS (
  SELECT capture, {buckets.width(most)} AS width
  FROM {{of}} GROUP BY capture
), answered AS (
  SELECT /*+ BROADCAST(widths) */ *, {buckets.BUCKET} AS bucket
  FROM {{of}} JOIN widths USING (capture)
  WHERE key > {STRAY} AND latency_ms IS NOT NULL
), latency AS (
  SELECT bucket, {keys}, count(*) AS count, max(latency_ms) AS max_ms,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50_ms,
    percentile_disc(0.99) WITHIN GROUP (ORDER BY latency_ms) AS p99_ms,
    percentile_disc(0.99) WITHIN GROUP (ORDER BY broker_ms) AS broker_p99_ms
  FROM answered GROUP BY bucket, {keys}
)"""


_BY_API: Final = f"""\
{_latency("api", buckets.MOST)}
SELECT bucket, api, count, p50_ms, p99_ms, max_ms, broker_p99_ms
FROM latency"""

_BY_CLIENT: Final = f"""\
{_latency("api, client_id, broker", COARSE)}, ranked AS (
  SELECT *, sum(count) OVER series AS in_all,
    coalesce(max(if(count >= {ENOUGH}, p99_ms, NULL)) OVER series
      >= greatest({RISE} * median(p99_ms) OVER series, {LEAST}D), false) AS rose
  FROM latency WINDOW series AS (PARTITION BY api, client_id, broker)
), placed AS (
  SELECT *, dense_rank() OVER (ORDER BY rose DESC, in_all DESC, api, client_id, broker) AS place
  FROM ranked
)
SELECT bucket, api, client_id, broker, count, p50_ms, p99_ms, max_ms, broker_p99_ms, series
FROM (SELECT *, max(place) OVER () AS series FROM placed) WHERE place <= {SERIES}"""

PEERS, TIMES = 3, 4
"""A median latency of this many times that of the API's other clients is an outlier, among at least this many
clients."""

_OUTLIERS: Final = f"""\
WITH series AS (
  SELECT api, client_id, {HOST} AS host, broker, count(*) AS count, min(ts) AS start, max(ts) AS end,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50_ms
  FROM {{of}} WHERE key > {STRAY} AND latency_ms IS NOT NULL AND api NOT IN {GROUPS}
  GROUP BY api, client_id, host, broker HAVING count >= {ENOUGH}
), peers AS (
  SELECT api, count(DISTINCT concat_ws('/', host, client_id)) AS clients,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY p50_ms) AS usual_ms
  FROM series GROUP BY api
)
SELECT api, client_id, host, broker, count, p50_ms, usual_ms, clients, start, end
FROM series JOIN peers USING (api)
WHERE clients >= {PEERS} AND p50_ms >= greatest({TIMES} * usual_ms,
  CASE {" ".join(f"WHEN api = '{api}' THEN {wait}D" for api, wait in WAITS_MS.items())} ELSE {LEAST}D END)"""

_HEATMAP: Final = f"""\
WITH counted AS (SELECT *, sum(count) OVER (PARTITION BY api) AS in_all FROM {{of}}),
placed AS (SELECT *, dense_rank() OVER (ORDER BY in_all DESC, api) AS place FROM counted)
SELECT bucket, if(place <= {APIS}, api, '{OTHERS}') AS api, latency_ms, sum(count) AS count
FROM placed GROUP BY bucket, if(place <= {APIS}, api, '{OTHERS}'), latency_ms"""

_FIRST: Final = f"""\
SELECT {", ".join(f"`{column.name}`" for column in findings.COLUMNS)}
FROM (SELECT *, row_number() OVER (PARTITION BY `check` ORDER BY ts, text) AS place FROM {{of}})
WHERE place <= {LISTED}"""

_BY_CHECK: Final = """\
SELECT severity, `check`, count(*) AS count, min_by(text, struct(ts, text)) AS first
FROM {of} GROUP BY severity, `check`"""

_REFUSALS: Final = """\
SELECT client_id, api, error, sum(count) AS count, min(first_ts) AS first_ts, max(last_ts) AS last_ts
FROM {of} GROUP BY client_id, api, error"""

_REFUSALS_OVER_TIME: Final = """\
SELECT bucket, error, sum(count) AS count FROM {of} GROUP BY bucket, error"""

_DEEPEST_OF_ALL: Final = """\
SELECT client_id, max(depth_max) AS depth_max FROM {of} GROUP BY client_id"""

_DEEPEST: Final = f"""\
WITH named AS (
  SELECT bucket, coalesce(client_id, '') AS client_id, depth_max, depth_mean,
    max(depth_max) OVER (PARTITION BY client_id) AS deepest
  FROM {{of}}
), placed AS (SELECT *, dense_rank() OVER (ORDER BY deepest DESC, client_id) AS place FROM named)
SELECT bucket, client_id, max(depth_max) AS depth_max, max(depth_mean) AS depth_mean
FROM placed WHERE place <= {LINES} GROUP BY bucket, client_id"""

_LAG: Final = f"""\
WITH sums AS (SELECT bucket, `group`, topic, sum(lag) AS lag FROM {{of}} GROUP BY bucket, `group`, topic),
ranked AS (SELECT *, max(lag) OVER (PARTITION BY `group`, topic) AS highest FROM sums),
placed AS (SELECT *, dense_rank() OVER (ORDER BY highest DESC, `group`, topic) AS place FROM ranked)
SELECT bucket, `group`, topic, lag FROM placed WHERE place <= {LINES}"""

_LAG_PARTITIONS: Final = """\
SELECT `group`, topic, partition, max_by(lag, bucket) AS lag, min(lag) AS least,
  max_by(committed, bucket) AS committed, max(end_offset) AS end_offset, max(committed_ts) AS committed_ts,
  min(bucket) AS start, max(bucket) AS end
FROM {of} GROUP BY capture, `group`, topic, partition"""

FRAMES: Final = "^([0-9]+) frames? of"
"""SQL: the number of frames in the reason of a connection, which is summed over all connections."""

_UNREAD: Final = f"""\
WITH told AS (
  SELECT *, if(kind = 'gap' AND bytes > 0, '{MISSING}', regexp_replace(reason, '{FRAMES}', 'frames of'))
      AS why,
    coalesce(try_cast(regexp_extract(reason, '{FRAMES}', 1) AS bigint), 1) AS times
  FROM {{of}}
)
SELECT kind, capture, file, why AS reason, sum(times) AS count, sum(bytes) AS bytes
FROM told GROUP BY kind, capture, file, why"""

_DIGESTS: Final = (
    Digest("unread", "errors", _UNREAD, ("kind <> 'missing'", "count DESC")),
    Digest("latency", "exchanges", _BY_API, ("bucket", "api")),
    Digest("latency_clients", "exchanges", _BY_CLIENT, ("bucket", "api", "client_id", "broker")),
    Digest("outliers", "exchanges", _OUTLIERS, ("p50_ms / usual_ms DESC",)),
    Digest("latency_heatmap", "analyses/latency_heatmap", _HEATMAP, ("bucket", "api")),
    Digest("findings", "analyses/findings", _FIRST, (_SEVERITY, "ts"), lists=True),
    Digest("findings_by_check", "analyses/findings", _BY_CHECK, (_SEVERITY, "count DESC")),
    Digest("errors", "analyses/errors", _REFUSALS, ("count DESC",)),
    Digest(
        "errors_over_time",
        "analyses/errors",
        "SELECT bucket, error, sum(count) AS count FROM {of} GROUP BY bucket, error",
        ("bucket",),
    ),
    Digest("retries", "analyses/retries", order=("attempts DESC",)),
    Digest("rebalances", "analyses/rebalances", order=("start",)),
    Digest("heartbeats", "analyses/heartbeats", order=("share DESC",)),
    Digest("commits", "analyses/commits", order=("gaps + duplicates DESC", "refused DESC")),
    Digest("in_flight", "analyses/in_flight", _DEEPEST, ("bucket",)),
    Digest(
        "in_flight_clients",
        "analyses/in_flight",
        "SELECT client_id, max(depth_max) AS depth_max FROM {of} GROUP BY client_id",
        ("depth_max DESC",),
    ),
    Digest("hot_partitions", "analyses/hot_partitions", order=("share DESC",)),
    Digest("versions", "analyses/versions", order=("removed_in IS NULL", "count DESC")),
    Digest("rules", "analyses/rules", order=("fired DESC",)),
    Digest("throttling", "analyses/throttling", order=("total_ms DESC",)),
    Digest("lag", "analyses/lag", _LAG, ("bucket",)),
    Digest("lag_partitions", "analyses/lag", _LAG_PARTITIONS, ("lag DESC",)),
    Digest("topics", "analyses/topics", order=("bytes DESC",)),
    Digest("logins", "analyses/logins", order=("failed DESC",)),
    Digest("connections", "analyses/connections", order=("count DESC",)),
)

DIGESTS: Final = (
    *_DIGESTS,
    *(
        Digest(section.name, f"analyses/{section.name}")
        for section in SECTIONS
        if section.name not in {digest.name for digest in _DIGESTS}
    ),
)
"""A section without a digest above shows all rows of the analysis with its name."""


_OVERVIEW: Final = f"""\
SELECT min(ts) AS begins, max(ts) AS ends, count(*) AS exchanges,
  count(DISTINCT struct(capture, connection)) AS connections, count(DISTINCT {CLIENT}) AS clients,
  -- without node ids, count the brokers' addresses; with them, addresses would include the bootstrap's
  coalesce(nullif(count(DISTINCT broker), 0), count(DISTINCT server_address)) AS brokers,
  count(DISTINCT `group`) AS groups, count_if(undecodable <> '') AS undecodable,
  count_if(note <> '{INFERRED}') AS requests, count(response_size) AS responses,
  count_if(contains(note, '{NOT_CAPTURED}')) AS not_captured
FROM {{exchanges}}"""

MOST: Final = 30_000
"""The most rows of a result."""


def overview(files: Mapping[str, int], exchanges: DataFrame) -> Overview:
    """Return a summary of everything that was read. `files` has the number of files by capture."""
    with_requests = with_request(exchanges)
    row = query(_OVERVIEW, with_requests).first()
    assert row is not None  # noqa: S101 - a sum of nothing is a row too
    topics = with_requests.select(F.explode("topics").alias("topic")).distinct().count()
    errors = without_negotiation(with_requests).where("error <> ''").count()
    values = row.asDict()
    only = only_direction(*map(values.pop, ("requests", "responses", "not_captured")))
    of_all = sum(files.values())
    return Overview(sorted(files), topics=topics, errors=errors, files=of_all, only=only, **values)


def collected(name: str, stored: StoredTable) -> dict[str, Result]:
    """Return the digests of a table."""
    return {
        digest.name: collect(stored.frame, digest)
        if stored.rows is None or digest.sql != AS_IT_IS
        else Result(stored.rows.slice(0, MOST).to_pylist(), stored.rows.num_rows, digest.shown)
        for digest in DIGESTS
        if digest.of == name
    }


def in_order(name: str, columns: Sequence[str]) -> list[Column]:
    """Return the order of a table whose rows the report shows unchanged; for other tables none."""
    for digest in DIGESTS:
        if digest.of == name and digest.sql == AS_IT_IS:
            return _order(digest, columns)
    return []


def collect(of: DataFrame, digest: Digest) -> Result:
    """Return as many rows of a digest as the report shows. `of` is the table that it is made of."""
    table = of.sparkSession.sql(digest.sql, of=of)
    table = table.orderBy(*_order(digest, table.columns))
    rows = table.limit(MOST + 1).toArrow().to_pylist()
    total = of.count() if digest.lists else len(rows) if len(rows) <= MOST else table.count()
    return Result(rows[:MOST], total, digest.shown)


def _order(digest: Digest, columns: Sequence[str]) -> list[Column]:
    """Return the order of a digest, with all columns at the end, so that the report is reproducible."""
    return [*map(_by, digest.order), *map(F.col, columns)]


def _by(sql: str) -> Column:
    """Return an expression's order: descending with nulls last if it ends in `DESC`, else ascending."""
    expression = F.expr(sql.removesuffix(" DESC"))
    return expression.desc() if sql.endswith(" DESC") else expression.asc()
