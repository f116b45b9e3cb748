"""`rules`: the effects of the proxy's fault rules on the exchanges that they fired on."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import captured, percentile, query, with_request
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("rule", "string", "name of the rule"),
    Column("api", "string", "name of the API"),
    Column("fired", "bigint", "exchanges on which it fired"),
    Column("p50_with_ms", "double", "their median latency"),
    Column("p99_with_ms", "double", "their 99th percentile"),
    Column("p50_without_ms", "double", "the same of the API's exchanges that no rule touched"),
    Column("p99_without_ms", "double", "the same of the API's exchanges that no rule touched"),
    Column("errors_with", "bigint", "their responses with an error"),
    Column("errors_without", "bigint", "the same of the API's exchanges that no rule touched"),
    Column("without", "bigint", "the API's exchanges that no rule touched"),
    Column("unanswered", "bigint", "exchanges on which it fired and that have no response"),
    Column("closed", "bigint", "connections that ended in an exchange on which it fired"),
    Column("capture", "string", "name of the capture"),
)

P50, P99 = percentile("latency_ms", 0.5), percentile("latency_ms", 0.99)


def rules(exchanges: DataFrame) -> DataFrame:
    """Compare exchanges that a rule fired on with exchanges of the same API and capture without a rule.

    Other rules of the same client may have delayed the latter, too.
    """
    return query(
        f"""\
WITH touched AS (
  SELECT capture, rule, api, count(*) AS fired,
    {P50} AS p50_with_ms, {P99} AS p99_with_ms, count_if(error <> '') AS errors_with,
    count_if(latency_ms IS NULL) AS unanswered,
    count(DISTINCT if(contains(note, 'closed'), connection, NULL)) AS closed
  FROM (SELECT *, explode(rules) AS rule FROM {{exchanges}}) GROUP BY capture, rule, api
), others AS (
  SELECT capture, api, count(*) AS `without`,
    {P50} AS p50_without_ms, {P99} AS p99_without_ms, count_if(error <> '') AS errors_without
  FROM {{exchanges}} WHERE size(rules) = 0 GROUP BY capture, api
)
SELECT rule, api, fired, p50_with_ms, p99_with_ms, p50_without_ms, p99_without_ms, errors_with,
  coalesce(errors_without, 0) AS errors_without, coalesce(`without`, 0) AS `without`, unanswered, closed,
  capture
FROM touched LEFT JOIN others USING (capture, api)""",
        captured(with_request(exchanges)),
    )
