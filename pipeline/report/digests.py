"""The results that the report takes of the tables, whose size is bounded: SQL, which the report shows, too.

Each comes to at most some thousand rows, or is cut at `MOST` with what matters most in front.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.captures.checks.finding import LISTED
from barnabas.captures.kafka.exchange import STRAY
from barnabas.pipeline.analyses import buckets
from barnabas.pipeline.analyses.expressions import NS
from barnabas.pipeline.analyses.latency import ACCURACY
from barnabas.pipeline.report.plotting import MOST as LINES
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.report.rises import ENOUGH, LEAST, RISE
from barnabas.pipeline.report.sections.latency_heatmap import APIS, OTHERS
from barnabas.pipeline.report.sections.unread import MISSING

COARSE: Final = 48
"""Buckets of the latency of a client and a broker, which have fewer exchanges than all together."""

SERIES: Final = 60
"""Clients, brokers and APIs whose latency over time the report has."""

AS_IT_IS: Final = "SELECT * FROM {of}"
"""All rows."""

_SEVERITY: Final = "array_position(array('error', 'warning', 'note'), severity)"


class Digest(NamedTuple):
    """A result of the report."""

    name: str
    of: str
    """Folder of the table that it is made of."""
    sql: str = AS_IT_IS
    """Makes it of the table {of}."""
    order: tuple[str, ...] = ()
    """What is in front if not all fits; SQL."""
    lists: bool = False
    """Whether it lists some rows of its table as they are: those that it leaves out count, too."""

    @property
    def shown(self) -> str:
        """The same for a reader, who has the tables of `barnabas.pipeline.tables.sql`."""
        sql = self.sql.format(of=self.of.replace("analyses/", "analysis_"))
        return f"{sql}\nORDER BY {', '.join(self.order)}" if self.order else sql


def _latency(keys: str, most: int) -> str:
    """The analysis by other keys and in fewer buckets: percentiles can't be added up."""
    return f"""\
WITH widths AS (
  SELECT capture, coalesce(get(filter(
    array({", ".join(map(str, buckets.WIDTHS_MS))}),
    width -> width >= (max(ts_ns) - min(ts_ns)) / {NS * most}D), 0), {buckets.WIDTHS_MS[-1]}) AS width
  FROM {{of}} GROUP BY capture
), answered AS (
  SELECT /*+ BROADCAST(widths) */ *, timestamp_millis(ts_ns div {NS} - pmod(ts_ns div {NS}, width)) AS bucket
  FROM {{of}} JOIN widths USING (capture)
  WHERE key > {STRAY} AND latency_ms IS NOT NULL
), latency AS (
  SELECT bucket, {keys}, count(*) AS count, max(latency_ms) AS max_ms,
    percentile_approx(latency_ms, array(0.5D, 0.99D), {ACCURACY}) AS waited,
    percentile_approx(broker_ms, 0.99D, {ACCURACY}) AS broker_p99_ms
  FROM answered GROUP BY bucket, {keys}
)"""


_BY_API: Final = f"""\
{_latency("api", buckets.MOST)}
SELECT bucket, api, count, waited[0] AS p50_ms, waited[1] AS p99_ms, max_ms, broker_p99_ms
FROM latency"""

_BY_CLIENT: Final = f"""\
{_latency("api, client_id, broker", COARSE)}, ranked AS (
  SELECT *, sum(count) OVER series AS in_all,
    coalesce(max(if(count >= {ENOUGH}, waited[1], NULL)) OVER series
      >= greatest({RISE} * median(waited[1]) OVER series, {LEAST}D), false) AS rose
  FROM latency WINDOW series AS (PARTITION BY api, client_id, broker)
), placed AS (
  SELECT *, dense_rank() OVER (ORDER BY rose DESC, in_all DESC, api, client_id, broker) AS place
  FROM ranked
)
SELECT bucket, api, client_id, broker, count, waited[0] AS p50_ms, waited[1] AS p99_ms, max_ms,
  broker_p99_ms, series
FROM (SELECT *, max(place) OVER () AS series FROM placed) WHERE place <= {SERIES}"""

_HEATMAP: Final = f"""\
WITH often AS (SELECT api FROM {{of}} GROUP BY api ORDER BY sum(count) DESC, api LIMIT {APIS})
SELECT /*+ BROADCAST(often) */ bucket, coalesce(often.api, '{OTHERS}') AS api, latency_ms, sum(count) AS count
FROM {{of}} AS one LEFT JOIN often ON one.api = often.api
GROUP BY bucket, coalesce(often.api, '{OTHERS}'), latency_ms"""

_FIRST: Final = f"""\
SELECT * EXCEPT (place)
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

_DEEPEST: Final = f"""\
WITH named AS (SELECT * EXCEPT (client_id), coalesce(client_id, '') AS client_id FROM {{of}}),
deepest AS (
  SELECT client_id FROM named GROUP BY client_id ORDER BY max(depth_max) DESC, client_id LIMIT {LINES}
)
SELECT /*+ BROADCAST(deepest) */ bucket, client_id, max(depth_max) AS depth_max, max(depth_mean) AS depth_mean
FROM named JOIN deepest USING (client_id) GROUP BY bucket, client_id"""

_DEEPEST_OF_ALL: Final = """\
SELECT client_id, max(depth_max) AS depth_max FROM {of} GROUP BY client_id"""

_UNREAD: Final = f"""\
WITH told AS (
  SELECT *, if(kind = 'gap' AND bytes > 0, '{MISSING}', reason) AS why FROM {{of}}
)
SELECT kind, capture, file, why AS reason, count(*) AS count, sum(bytes) AS bytes
FROM told GROUP BY kind, capture, file, why"""

_DIGESTS: Final = (
    Digest("unread", "errors", _UNREAD, ("kind <> 'missing'", "count DESC")),
    Digest("latency", "exchanges", _BY_API, ("bucket", "api")),
    Digest("latency_clients", "exchanges", _BY_CLIENT, ("bucket", "api", "client_id", "broker")),
    Digest("latency_heatmap", "analyses/latency_heatmap", _HEATMAP, ("bucket", "api")),
    Digest("findings", "analyses/findings", _FIRST, (_SEVERITY, "ts"), lists=True),
    Digest("findings_by_check", "analyses/findings", _BY_CHECK, (_SEVERITY, "count DESC")),
    Digest("errors", "analyses/errors", _REFUSALS, ("count DESC",)),
    Digest("errors_over_time", "analyses/errors", _REFUSALS_OVER_TIME, ("bucket",)),
    Digest("retries", "analyses/retries", order=("attempts DESC",)),
    Digest("rebalances", "analyses/rebalances", order=("start",)),
    Digest("heartbeats", "analyses/heartbeats", order=("share DESC",)),
    Digest("commits", "analyses/commits", order=("gaps + duplicates DESC", "refused DESC")),
    Digest("in_flight", "analyses/in_flight", _DEEPEST, ("bucket",)),
    Digest("in_flight_clients", "analyses/in_flight", _DEEPEST_OF_ALL, ("depth_max DESC",)),
    Digest("partition_order", "analyses/partition_order", order=("ts",)),
    Digest("hot_partitions", "analyses/hot_partitions", order=("share DESC",)),
    Digest("versions", "analyses/versions", order=("removed_in IS NULL", "count DESC")),
    Digest("rules", "analyses/rules", order=("fired DESC",)),
)

DIGESTS: Final = (
    *_DIGESTS,
    *(
        Digest(section.name, f"analyses/{section.name}")
        for section in SECTIONS
        if section.name not in {one.name for one in _DIGESTS}
    ),
)
"""What is the result of a section and stands nowhere above is the analysis of its name, as it is."""
