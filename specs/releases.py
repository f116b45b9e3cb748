"""The API versions that each release of Kafka offers: the content of a broker's ApiVersions response.

From 2.3 on they come from the message definitions of each release (APIs that a broker listens to, without
versions marked unstable). For older releases they come from the tables in kafka-clients. A real broker may
offer fewer: KRaft lacks the inter-broker APIs of ZooKeeper's time, and some features hide theirs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from barnabas.specs.registry import key_of

Range = tuple[int, int]
"""The oldest and the newest version."""

# fmt: off
RELEASES: Final = (
    "0.10.0", "0.10.1", "0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3", "2.4",
    "2.5", "2.6", "2.7", "2.8", "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8",
    "3.9", "4.0", "4.1", "4.2", "4.3", "4.4",
)
"""All releases with ApiVersions, by major and minor version; patch releases change nothing here."""

BEFORE: Final = ("0.8", "0.9")
"""Releases without ApiVersions."""

OFFERED: Final = (
    ("Produce",
     "0.10.0:0-2 0.11.0:0-3 1.0:0-5 2.0:0-6 2.1:0-7 2.4:0-8 2.8:0-9 3.7:0-10 3.8:0-11 4.0:0-12 "
     "4.1:0-13"),
    ("Fetch",
     "0.10.0:0-2 0.10.1:0-3 0.11.0:0-5 1.0:0-6 1.1:0-7 2.0:0-8 2.1:0-10 2.3:0-11 2.7:0-12 "
     "3.1:0-13 3.5:0-15 3.7:0-16 3.9:0-17 4.0:4-17 4.1:4-18"),
    ("ListOffsets",
     "0.10.0:0-0 0.10.1:0-1 0.11.0:0-2 2.0:0-3 2.1:0-4 2.2:0-5 2.8:0-6 3.0:0-7 3.5:0-8 3.9:0-9 "
     "4.0:1-10 4.2:1-11"),
    ("Metadata",
     "0.10.0:0-1 0.10.1:0-2 0.11.0:0-4 1.0:0-5 2.0:0-6 2.1:0-7 2.3:0-8 2.4:0-9 2.8:0-11 "
     "3.1:0-12 4.0:0-13"),
    ("LeaderAndIsr", "0.10.0:0-0 1.0:0-1 2.2:0-2 2.4:0-4 2.8:0-5 3.2:0-6 3.4:0-7 4.0:none"),
    ("StopReplica", "0.10.0:0-0 2.2:0-1 2.4:0-2 2.6:0-3 3.4:0-4 4.0:none"),
    ("UpdateMetadata", "0.10.0:0-2 0.10.2:0-3 1.0:0-4 2.2:0-5 2.4:0-6 2.8:0-7 3.4:0-8 4.0:none"),
    ("ControlledShutdown", "0.10.0:1-1 1.0:0-1 2.2:0-2 2.4:0-3 4.0:none"),
    ("OffsetCommit", "0.10.0:0-2 0.11.0:0-3 2.0:0-4 2.1:0-6 2.3:0-7 2.4:0-8 3.7:0-9 4.0:2-9 4.2:2-10"),
    ("OffsetFetch",
     "0.10.0:0-1 0.10.2:0-2 0.11.0:0-3 2.0:0-4 2.1:0-5 2.4:0-6 2.5:0-7 3.0:0-8 3.7:0-9 4.0:1-9 "
     "4.2:1-10"),
    ("FindCoordinator", "0.10.0:0-0 0.11.0:0-1 2.0:0-2 2.4:0-3 3.0:0-4 3.8:0-5 3.9:0-6"),
    ("JoinGroup", "0.10.0:0-0 0.10.1:0-1 0.11.0:0-2 2.0:0-3 2.2:0-4 2.3:0-5 2.4:0-6 2.5:0-7 3.2:0-9"),
    ("Heartbeat", "0.10.0:0-0 0.11.0:0-1 2.0:0-2 2.3:0-3 2.4:0-4"),
    ("LeaveGroup", "0.10.0:0-0 0.11.0:0-1 2.0:0-2 2.4:0-4 3.2:0-5"),
    ("SyncGroup", "0.10.0:0-0 0.11.0:0-1 2.0:0-2 2.3:0-3 2.4:0-4 2.5:0-5"),
    ("DescribeGroups", "0.10.0:0-0 0.11.0:0-1 2.0:0-2 2.3:0-3 2.4:0-5 4.0:0-6"),
    ("ListGroups", "0.10.0:0-0 0.11.0:0-1 2.0:0-2 2.4:0-3 2.6:0-4 3.8:0-5"),
    ("SaslHandshake", "0.10.0:0-0 1.0:0-1"),
    ("ApiVersions", "0.10.0:0-0 0.11.0:0-1 2.0:0-2 2.4:0-3 3.9:0-4 4.4:0-5"),
    ("CreateTopics", "0.10.1:0-0 0.10.2:0-1 0.11.0:0-2 2.0:0-3 2.4:0-5 2.7:0-6 2.8:0-7 4.0:2-7"),
    ("DeleteTopics", "0.10.1:0-0 0.11.0:0-1 2.0:0-2 2.1:0-3 2.4:0-4 2.7:0-5 2.8:0-6 4.0:1-6"),
    ("DeleteRecords", "0.11.0:0-0 2.0:0-1 2.6:0-2"),
    ("InitProducerId", "0.11.0:0-0 2.0:0-1 2.4:0-2 2.5:0-3 2.7:0-4 3.8:0-5"),
    ("OffsetForLeaderEpoch", "0.11.0:0-0 2.0:0-1 2.1:0-2 2.3:0-3 2.8:0-4 4.0:2-4"),
    ("AddPartitionsToTxn", "0.11.0:0-0 2.0:0-1 2.7:0-2 2.8:0-3 3.6:0-4 3.8:0-5"),
    ("AddOffsetsToTxn", "0.11.0:0-0 2.0:0-1 2.7:0-2 2.8:0-3 3.8:0-4"),
    ("EndTxn", "0.11.0:0-0 2.0:0-1 2.7:0-2 2.8:0-3 3.8:0-4 4.0:0-5"),
    ("WriteTxnMarkers", "0.11.0:0-0 2.8:0-1 4.0:1-1 4.2:1-2"),
    ("TxnOffsetCommit", "0.11.0:0-0 2.0:0-1 2.1:0-2 2.5:0-3 3.8:0-4 4.0:0-5 4.4:0-6"),
    ("DescribeAcls", "0.11.0:0-0 2.0:0-1 2.5:0-2 3.3:0-3 4.0:1-3"),
    ("CreateAcls", "0.11.0:0-0 2.0:0-1 2.5:0-2 3.3:0-3 4.0:1-3"),
    ("DeleteAcls", "0.11.0:0-0 2.0:0-1 2.5:0-2 3.3:0-3 4.0:1-3"),
    ("DescribeConfigs", "0.11.0:0-0 1.1:0-1 2.0:0-2 2.6:0-3 2.8:0-4 4.0:1-4"),
    ("AlterConfigs", "0.11.0:0-0 2.0:0-1 2.8:0-2"),
    ("AlterReplicaLogDirs", "1.0:0-0 2.0:0-1 2.8:0-2 4.0:1-2"),
    ("DescribeLogDirs", "1.0:0-0 2.0:0-1 2.6:0-2 3.2:0-3 3.3:0-4 4.0:1-4 4.3:1-5"),
    ("SaslAuthenticate", "1.0:0-0 2.2:0-1 2.5:0-2"),
    ("CreatePartitions", "1.0:0-0 2.0:0-1 2.5:0-2 2.7:0-3"),
    ("CreateDelegationToken", "1.1:0-0 2.0:0-1 2.4:0-2 3.3:0-3 4.0:1-3"),
    ("RenewDelegationToken", "1.1:0-0 2.0:0-1 2.5:0-2 4.0:1-2"),
    ("ExpireDelegationToken", "1.1:0-0 2.0:0-1 2.5:0-2 4.0:1-2"),
    ("DescribeDelegationToken", "1.1:0-0 2.0:0-1 2.5:0-2 3.3:0-3 4.0:1-3"),
    ("DeleteGroups", "1.1:0-0 2.0:0-1 2.4:0-2 4.4:0-3"),
    ("ElectLeaders", "2.2:0-0 2.4:0-2"),
    ("IncrementalAlterConfigs", "2.3:0-0 2.4:0-1"),
    ("AlterPartitionReassignments", "2.4:0-0 4.1:0-1"),
    ("ListPartitionReassignments", "2.4:0-0"),
    ("OffsetDelete", "2.4:0-0"),
    ("DescribeClientQuotas", "2.6:0-0 2.8:0-1"),
    ("AlterClientQuotas", "2.6:0-0 2.8:0-1"),
    ("DescribeUserScramCredentials", "2.7:0-0"),
    ("AlterUserScramCredentials", "2.7:0-0"),
    ("Vote", "2.7:0-0 2.8:none"),
    ("BeginQuorumEpoch", "2.7:0-0 2.8:none"),
    ("EndQuorumEpoch", "2.7:0-0 2.8:none"),
    ("DescribeQuorum", "2.7:0-0 3.3:0-1 3.9:0-2"),
    ("AlterPartition", "2.7:0-0 3.2:0-1 3.3:0-2 3.5:0-3 4.0:none"),
    ("UpdateFeatures", "2.7:0-0 3.3:0-1 4.0:0-2"),
    ("Envelope", "3.4:0-0 4.0:none"),
    ("DescribeCluster", "2.8:0-0 3.7:0-1 4.0:0-2"),
    ("DescribeProducers", "2.8:0-0"),
    ("UnregisterBroker", "2.8:0-0 3.0:none 3.3:0-0"),
    ("DescribeTransactions", "3.0:0-0"),
    ("ListTransactions", "3.0:0-0 3.8:0-1 4.1:0-2"),
    ("AllocateProducerIds", "3.0:0-0 4.0:none"),
    ("ConsumerGroupHeartbeat", "3.7:0-0 4.0:0-1"),
    ("ConsumerGroupDescribe", "3.8:0-0 4.0:0-1"),
    ("GetTelemetrySubscriptions", "3.7:0-0"),
    ("PushTelemetry", "3.7:0-0"),
    ("ListConfigResources", "3.7:0-0 4.1:0-1"),
    ("DescribeTopicPartitions", "3.8:0-0"),
    ("ShareGroupHeartbeat", "4.1:1-1"),
    ("ShareGroupDescribe", "4.1:1-1"),
    ("ShareFetch", "4.1:1-1 4.2:1-2"),
    ("ShareAcknowledge", "4.1:1-1 4.2:1-2"),
    ("AddRaftVoter", "3.9:0-0 4.2:0-1"),
    ("RemoveRaftVoter", "3.9:0-0"),
    ("InitializeShareGroupState", "4.1:0-0"),
    ("ReadShareGroupState", "4.1:0-0"),
    ("WriteShareGroupState", "4.1:0-0 4.2:0-1"),
    ("DeleteShareGroupState", "4.1:0-0"),
    ("ReadShareGroupStateSummary", "4.1:0-0 4.2:0-1"),
    ("StreamsGroupHeartbeat", "4.2:0-0 4.4:0-1"),
    ("StreamsGroupDescribe", "4.2:0-0 4.4:0-1"),
    ("DescribeShareGroupOffsets", "4.1:0-0 4.2:0-1"),
    ("AlterShareGroupOffsets", "4.1:0-0"),
    ("DeleteShareGroupOffsets", "4.1:0-0"),
    ("StreamsGroupTopologyDescriptionUpdate", "4.4:0-0"),
    ("UnregisterController", "4.4:0-0"),
)
"""(name, `release:oldest-newest` from that release on; none: removed).

Produce begins at 0 in 4.x too, although v0 to v2 are removed: librdkafka needs that (KAFKA-18659)."""
# fmt: on


FEATURES: Final = (
    (
        "metadata.version",
        "3.3:7 3.4:8 3.5:11 3.6:14 3.7:19 3.8:20 3.9:21 4.0:25 4.1:27 4.2:29 4.3:30",
    ),
    ("kraft.version", "3.9:1"),
    ("transaction.version", "4.0:2"),
    ("group.version", "4.0:1"),
    ("eligible.leader.replicas.version", "4.0:1"),
    ("share.version", "4.1:1"),
    ("streams.version", "4.2:1"),
)
"""(name, `release:newest` from that release on): the features of KIP-584 that brokers support.

They come from the responses of brokers 3.3.2, 3.9.1, 4.0.0, 4.1.0, 4.2.0 and 4.3.1, and metadata.version
between 3.3 and 3.9 from the release's MetadataVersion. Changes of 4.4 are unknown here."""


def features(release: str) -> dict[str, int]:
    """Return the newest version of each feature that a release supports. Raises LookupError as `offered`.

    >>> features("2.8"), features("3.9")
    ({}, {'metadata.version': 21, 'kraft.version': 1})
    """
    return {name: int(newest) for name, newest in _in_force(FEATURES, _release_of(release))}


IN_NAME_ONLY: Final = {key_of("Produce"): range(3)}
"""Versions by API key that brokers list from 4.0 on, but answer with UNSUPPORTED_VERSION. librdkafka
compresses only if they are listed (KAFKA-18659, apache/kafka pull request 18727; KIP-896)."""


def offered(release: str) -> dict[int, Range]:
    """Return the version range of each API that a release offers, e.g. of "2.8" or "2.8.1".

    Raises:
        LookupError: The release is unknown, or has no ApiVersions (before 0.10.0).

    >>> offered("0.10.2.1")[1], offered("4.0.0")[1], 4 in offered("4.0.0")
    ((0, 3), (4, 17), False)
    """
    return dict(_offered(_release_of(release)))


def _release_of(release: str) -> str:
    numbers = release.split(".")
    for parts in (3, 2):
        if ".".join(numbers[:parts]) in RELEASES:
            return ".".join(numbers[:parts])
    raise LookupError(
        f"no release {release!r} with ApiVersions; known are {RELEASES[0]} to {RELEASES[-1]}"
    )


@functools.cache
def _offered(release: str) -> dict[int, Range]:
    ranges = {}
    for name, versions in _in_force(OFFERED, release):
        if versions != "none":
            oldest, _, newest = versions.partition("-")
            ranges[key_of(name)] = int(oldest), int(newest)
    return ranges


def _in_force(table: tuple[tuple[str, str], ...], release: str) -> Iterator[tuple[str, str]]:
    """Yield the names of a table with the value that holds in a release: its last step up to that release."""
    until = RELEASES.index(release)
    for name, steps in table:
        reached = (step.split(":") for step in steps.split())
        held = [value for since, value in reached if RELEASES.index(since) <= until]
        if held:
            yield name, held[-1]
