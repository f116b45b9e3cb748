"""The pairs: a released version with a published robustness bug, and the one that mended it.

What a finding must look like to be that bug is for the score alone: no campaign sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.fuzz.cases.observation import SPINS
from barnabas.fuzz.database.findings import Finding
from barnabas.specs.keys import JOIN_GROUP, METADATA


class Pair(NamedTuple):
    """A bug: who had it and who has it no more, as targets of the campaign, and how it is known."""

    name: str
    campaign: str
    old: str
    fixed: str
    source: str
    is_it: Callable[[Finding], bool]


def _says(finding: Finding, *words: str) -> bool:
    """Whether all of these stand in what is known of it."""
    seen = finding.observation
    last = seen.death.last_words if seen.death is not None else ""
    text = "\n".join((finding.what, *finding.behaviour, *seen.log, seen.raised, last))
    return all(word in text for word in words)


def _null_record(finding: Finding) -> bool:
    """A record that is null is looked at: by the finding itself, not by what else a log tells of."""
    where = "kafka.log.LogValidator$.validateRecord"
    return where in finding.behaviour and _says(finding, "NullPointerException")


def _null_topic(finding: Finding) -> bool:
    """A NullPointerException at a Metadata request."""
    return finding.recipe.seed.key == METADATA and _says(finding, "NullPointerException")


def _tag(finding: Finding) -> bool:
    """The size of a tagged field is believed: memory for it is asked for, or a negative one refused."""
    return _says(finding, "readUnknownTaggedField")


def _count(finding: Finding) -> bool:
    """The number of an array's elements is believed: memory for them is asked for."""
    counts = any(change.path.endswith(".count") for change in finding.recipe.changes)
    return counts and _says(finding, "OutOfMemoryError") and not _tag(finding)


def _memory(*words: str) -> Callable[[Finding], bool]:
    """Memory runs out, in these methods."""
    return lambda finding: _says(finding, "OutOfMemoryError", *words)


def _dies(*words: str, without: tuple[str, ...] = ()) -> Callable[[Finding], bool]:
    """Match findings in which the process dies with all of these words, and none of those in `without`."""
    return lambda finding: (
        finding.observation.death is not None
        and _says(finding, *words)
        and not any(_says(finding, word) for word in without)
    )


def _has(*words: str) -> Callable[[Finding], bool]:
    """Match findings whose evidence has all of these words."""
    return lambda finding: _says(finding, *words)


def _by(oracle: str) -> Callable[[Finding], bool]:
    """Match findings of an oracle."""
    return lambda finding: finding.oracle == oracle


def _hangs(key: int) -> Callable[[Finding], bool]:
    """Match findings in which the client computes without end at a response of this API."""
    return lambda finding: (
        finding.oracle == "client-hung"
        and finding.recipe.seed.key == key
        and bool(dict(finding.observation.facts).get(SPINS))
    )


def _unanswered(key: int) -> Callable[[Finding], bool]:
    """Match findings in which a request of this API gets no response."""
    return lambda finding: finding.oracle == "unanswered" and finding.recipe.seed.key == key


def _answers(*words: bytes) -> Callable[[Finding], bool]:
    """Match findings in which the broker's responses have all of these bytes."""
    return lambda finding: all(word in b"".join(finding.observation.replies) for word in words)


_FRANZ_CONTEXT: Final = ("trackAbortedPID", "tryRestickyStales")
"""Functions in which franz-go panics in the pairs of `CONTEXT`."""

_CONSUMERS: Final = "?group.coordinator.rebalance.protocols=classic,consumer"
"""The setting with which Kafka 3.7 and 3.8 offer the consumer group protocol."""


# fmt: off
PAIRS: Final[tuple[Pair, ...]] = (
    Pair("kafka-array-count", "brokers", "apache:3.2.1", "apache:3.2.3", "CVE-2022-34917", _count),
    Pair("kafka-tag-size", "brokers", "apache:3.2.1", "apache:3.2.3", "CVE-2022-34917", _tag),
    Pair("kafka-13149", "brokers", "apache:3.0.0", "apache:3.0.1", "KAFKA-13149",
         _null_record),
    Pair("kafka-12701", "brokers", "apache:2.8.0", "apache:2.8.1", "KAFKA-12701",
         _null_topic),
    Pair("snappy-chunk", "brokers", "apache:3.5.0", "apache:3.5.1", "CVE-2023-34455",
         _memory("SnappyInputStream.hasNextChunk")),
    Pair("kafka-sasl-tag-size", "sasl", "apache:3.2.1?listener=sasl_plaintext",
         "apache:3.2.3?listener=sasl_plaintext", "CVE-2022-34917",
         _memory("SaslServerAuthenticator.handleSaslToken", "readUnknownTaggedField")),
    Pair("kafka-python-size", "clients", "client:kafka-python@2.3.1", "client:kafka-python@2.3.2",
         "kafka-python#3019", _by("client-raised")),
    Pair("franz-batch-length", "clients", "client:franz-go@1.21.3", "client:franz-go@1.21.4",
         "release notes of 1.21.4", _dies(without=("ensureLen", *_FRANZ_CONTEXT))),
    Pair("franz-record-count", "clients", "client:franz-go@1.21.3", "client:franz-go@1.21.4",
         "release notes of 1.21.4", _dies("ensureLen")),
    Pair("sarama-compact-string", "clients", "client:sarama@1.46.1", "client:sarama@1.46.2",
         "Sarama#2658", _dies("panic")),
)
# fmt: on
"""Bugs that one malformed field shows."""

# fmt: off
CONTEXT: Final[tuple[Pair, ...]] = (
    Pair("franz-aborted-order", "clients", "client:franz-go@1.21.3", "client:franz-go@1.21.4",
         "release notes of 1.21.4", _by("client-wrong-data")),
    Pair("franz-abort-marker", "clients", "client:franz-go@1.21.3", "client:franz-go@1.21.4",
         "franz-go#1348, 83131561", _dies("trackAbortedPID")),
    Pair("franz-stale-claim", "clients", "client:franz-go@1.21.3", "client:franz-go@1.21.4",
         "release notes of 1.21.4", _dies("tryRestickyStales")),
    Pair("franz-topic-id", "clients", "client:franz-go@1.19.5", "client:franz-go@1.20.0",
         "release notes of 1.20.0", _dies("removeCursor")),
    Pair("platformatic-abort-marker", "clients", "client:platformatic-kafka@2.11.0",
         "client:platformatic-kafka@2.12.0", "platformatic/kafka#391",
         _has("Cannot set properties of undefined")),
    Pair("aiokafka-abort-marker", "clients", "client:aiokafka@0.7.2", "client:aiokafka@0.8.0",
         "aiokafka#781", _has("KeyError", "_unpack_records")),
    Pair("librdkafka-sticky-loop", "clients", "client:confluent-kafka@2.6.0",
         "client:confluent-kafka@2.6.1", "librdkafka#4783", _hangs(JOIN_GROUP)),
    Pair("kafka-16930", "brokers", f"apache:3.7.2{_CONSUMERS}", f"apache:3.8.0{_CONSUMERS}",
         "KAFKA-16930", _answers(b"MemberAssignment.targetPartitions")),
    Pair("kafka-17525", "brokers", "apache:3.9.1", "apache:4.0.0", "KAFKA-17525",
         _has("NumberFormatException")),
)
# fmt: on
"""Bugs that need a context: aborted transactions, members with partitions, ids that change, settings."""

# fmt: off
MISSED: Final[tuple[Pair, ...]] = (
    Pair("librdkafka-topic-id", "clients", "client:confluent-kafka@2.8.0",
         "client:confluent-kafka@2.10.0", "librdkafka#4778", _dies("metadata_cache")),
    Pair("kafka-14422", "brokers", "apache:3.3.1", "apache:3.3.2", "KAFKA-14422",
         _unanswered(JOIN_GROUP)),
)
# fmt: on
"""Further ones that are not found yet: docs/explanation/rediscovery.md says why."""

USUAL: Final = (*PAIRS, *CONTEXT)
ALL: Final = (*USUAL, *MISSED)


def groups(pairs: tuple[Pair, ...]) -> dict[tuple[str, str, str], list[Pair]]:
    """Pairs that one campaign is about: (campaign, old, fixed) -> its pairs."""
    found: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs:
        found.setdefault((pair.campaign, pair.old, pair.fixed), []).append(pair)
    return found
