"""`logins`: authentications that succeed and fail."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import query
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("identity", "string", "mechanism and user, as far as they are known"),
    Column("client_id", "string", "the client, or null"),
    Column("host", "string", "the client's address"),
    Column("count", "bigint", "authentications with a known outcome"),
    Column("failed", "bigint", "those that were refused"),
    Column("reason", "string", "reason of the last refusal, or null"),
    Column("start", "timestamp", "time of the first one"),
    Column("end", "timestamp", "time of the last one"),
    Column("capture", "string", "name of the capture"),
)


def logins(exchanges: DataFrame) -> DataFrame:
    """Count the SASL authentications of each user, and those that were refused.

    The outcome of some mechanisms, such as GSSAPI before Kafka 2.2, is not in the messages.
    """
    return query(
        """\
WITH outcomes AS (
  SELECT capture, client_id, ts, ts_ns, host, trim(substring_index(sasl, '→', 1)) AS identity,
    if(api = 'SaslHandshake', concat('refused: ', error), trim(substring_index(sasl, '→', -1))) AS outcome
  FROM {exchanges} WHERE sasl LIKE '%→ refused%' OR sasl LIKE '%→ authenticated%'
    OR (api = 'SaslHandshake' AND error <> '')
)
SELECT identity, client_id, host, count(*) AS count, count_if(outcome LIKE 'refused%') AS failed,
  max_by(if(outcome LIKE 'refused%', outcome, NULL), if(outcome LIKE 'refused%', ts_ns, NULL)) AS reason,
  min(ts) AS start, max(ts) AS end, capture
FROM outcomes GROUP BY capture, identity, client_id, host""",
        exchanges,
    )
