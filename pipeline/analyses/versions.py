"""`versions`: the versions that clients use, and those that an upgrade removes (KIP-896)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import captured, with_request
from barnabas.pipeline.rows.columns import Column
from barnabas.specs.registry import NAMES
from barnabas.specs.releases import IN_NAME_ONLY, RELEASES, offered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    removed_in = F.create_map(
        *(
            F.lit(part)
            for (name, version), release in sorted(removed().items())
            for part in (f"{name} {version}", release)
        )
    )
    listed = [f"{name} {version}" for name, version in sorted(LISTED)]
    api_version = F.concat_ws(" ", "api", F.col("version").cast("string"))
    return (
        captured(with_request(exchanges))
        .where("key >= 0")
        .groupBy("client_id", "software", "api", "version")
        .agg(F.count("*").alias("count"), F.max("ts").alias("last_ts"))
        .withColumn("removed_in", F.try_element_at(removed_in, api_version))
        .withColumn("listed", F.when(F.col("removed_in").isNotNull(), api_version.isin(listed)))
        .select(*(column.name for column in COLUMNS))
    )
