"""`versions`: which versions clients use, and which of them an upgrade takes away (KIP-896)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import asked, captured
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
    Column(
        "listed", "boolean", "whether that release still lists it in ApiVersions; null: not removed"
    ),
)

BETWEEN_BROKERS: Final = (
    *("Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "AlterPartition"),
    *("Envelope", "AllocateProducerIds"),
)
"""They went to the controllers' own listener, and are not gone."""

LISTED: Final = frozenset((NAMES[key], one) for key, some in IN_NAME_ONLY.items() for one in some)
"""(API, version) of those that 4.0 goes on listing, and takes no more."""


def removed() -> dict[tuple[str, int], str]:
    """(API, version) -> the release that was the first without it.

    >>> gone = removed()
    >>> gone["Fetch", 3], gone["LeaderAndIsr", 7], ("Fetch", 4) in gone
    ('4.0', '4.0', False)
    """
    found = dict.fromkeys(LISTED, "4.0")
    before: set[tuple[str, int]] = set()
    for release in RELEASES:
        now = {
            (NAMES[key], version)
            for key, (oldest, newest) in offered(release).items()
            for version in range(oldest, newest + 1)
        }
        found |= dict.fromkeys(before - now, release)
        for back in now & found.keys() - LISTED:
            del found[back]
        before = now
    return {place: gone for place, gone in found.items() if place[0] not in BETWEEN_BROKERS}


def versions(exchanges: DataFrame) -> DataFrame:
    """Which clients use which versions, and which of them would an upgrade (above all to 4.x) break?"""
    gone = F.create_map(
        *(
            F.lit(part)
            for (name, version), release in sorted(removed().items())
            for part in (f"{name} {version}", release)
        )
    )
    listed = [f"{name} {version}" for name, version in sorted(LISTED)]
    place = F.concat_ws(" ", "api", F.col("version").cast("string"))
    return (
        captured(asked(exchanges))
        .where("key >= 0")
        .groupBy("client_id", "software", "api", "version")
        .agg(F.count("*").alias("count"), F.max("ts").alias("last_ts"))
        .withColumn("removed_in", F.try_element_at(gone, place))
        .withColumn("listed", F.when(F.col("removed_in").isNotNull(), place.isin(listed)))
        .select(*(column.name for column in COLUMNS))
    )
