"""`versions`: the versions that clients use, and those that an upgrade removes (KIP-896)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import captured, query, with_request
from barnabas.pipeline.rows.columns import Column
from barnabas.specs.registry import NAMES
from barnabas.specs.releases import IN_NAME_ONLY, RELEASES, offered

COLUMNS: Final = (
    Column("client_id", "string", "the client, or null"),
    Column("software", "string", "name and version of its library, or null"),
    Column("api", "string", "name of the API"),
    Column("version", "int", "version of the request"),
    Column("count", "bigint", "number of requests"),
    Column("removed_in", "string", "first Kafka release that rejects it, or null"),
    Column("last_ts", "timestamp", "time of its last request"),
    Column("listed", "boolean", "whether that release still lists it in ApiVersions; null: not removed"),
)  # fmt: skip

BETWEEN_BROKERS: Final = (
    *("Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "AlterPartition"),
    *("Envelope", "AllocateProducerIds"),
)
"""APIs that moved to the controllers' own listener, and still exist."""

LISTED: Final = frozenset(
    (NAMES[key], version) for key, listed in IN_NAME_ONLY.items() for version in listed
)
"""(API, version) pairs that 4.0 still lists but rejects."""


def removed() -> dict[tuple[str, int], str]:
    """Return, for each removed (API, version), the first release without it.

    >>> gone = removed()
    >>> gone["Fetch", 3], gone["LeaderAndIsr", 7], ("Fetch", 4) in gone
    ('4.0', '4.0', False)
    """
    release_by_version = dict.fromkeys(LISTED, "4.0")
    before: set[tuple[str, int]] = set()
    for release in RELEASES:
        offered_versions = {
            (NAMES[key], version)
            for key, (oldest, newest) in offered(release).items()
            for version in range(oldest, newest + 1)
        }
        release_by_version |= dict.fromkeys(before - offered_versions, release)
        for back in offered_versions & release_by_version.keys() - LISTED:
            del release_by_version[back]
        before = offered_versions
    return {
        api_version: release_without
        for api_version, release_without in release_by_version.items()
        if api_version[0] not in BETWEEN_BROKERS
    }


def versions(exchanges: DataFrame) -> DataFrame:
    """List the API versions that clients use, and those that an upgrade (above all to 4.x) removes."""
    removed_in = [
        f"'{name} {version}', '{release}'" for (name, version), release in removed().items()
    ]
    listed = tuple(f"{name} {version}" for name, version in sorted(LISTED))
    return query(
        f"""\
WITH counts AS (
  SELECT client_id, software, api, version, concat_ws(' ', api, version) AS api_version,
    count(*) AS count, max(ts) AS last_ts
  FROM {{exchanges}} WHERE key >= 0 GROUP BY client_id, software, api, version
), removals AS (
  SELECT *, try_element_at(map({", ".join(removed_in)}), api_version) AS removed_in FROM counts
)
SELECT client_id, software, api, version, count, removed_in, last_ts,
  if(removed_in IS NULL, NULL, api_version IN {listed}) AS listed
FROM removals""",
        captured(with_request(exchanges)),
    )
