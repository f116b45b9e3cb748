"""The pairs: a released client with a published fault of behaviour, and the release that mended it."""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.experiments.clients.verdict import Word


class Pair(NamedTuple):
    """A fault: who had it and who has it no more, as `barnabas clients run --client` has them, where it was
    published, what is run, and what the judge calls it in the old release."""

    source: str
    old: str
    fixed: str
    workload: str
    scenario: str
    word: Word


# fmt: off
PAIRS: Final[tuple[Pair, ...]] = (
    # after a possibly persisted error the next sequence number is expected as if it had been persisted
    Pair("librdkafka#4438", "confluent-kafka@2.2.0", "confluent-kafka@2.3.0",
         "idempotent", "produce-timed-out", "fails"),
    # offsets that are stored when a partition is another's are committed once it comes back
    Pair("librdkafka#2782", "confluent-kafka@1.8.2", "confluent-kafka@1.9.0",
         "stored-offsets", "late-join", "duplicates"),
    # a large batch is cut at retry, where the backoff of some of its records is not over
    Pair("librdkafka#4736", "confluent-kafka@2.4.0", "confluent-kafka@2.5.0",
         "burst", "slow-acknowledgements", "fails"),
    # KAFKA_STORAGE_ERROR is not retried
    Pair("Sarama#2939", "sarama@1.43.2", "sarama@1.43.3",
         "produce", "storage-error", "fails"),
    Pair("aiokafka#1115", "aiokafka@0.12.0", "aiokafka@0.13.0",
         "produce", "storage-error", "fails"),
    # InitProducerId's REQUEST_TIMED_OUT is fatal
    Pair("KAFKA-14417", "java@3.3.1", "java@3.3.2",
         "idempotent", "producer-id-late", "fails"),
    # errors at which a producer id can be asked for again are fatal
    Pair("franz-go#1348", "franz-go@1.21.3", "franz-go@1.21.4",
         "transact", "producer-id-late", "fails"),
    # OffsetFetch's COORDINATOR_NOT_AVAILABLE leaves poll() as an unexpected error
    Pair("KAFKA-17279", "java@3.8.0", "java@3.9.0",
         "group", "offsets-not-loaded", "fails"),
    # an error of OffsetFetch as a whole, not of a partition, ends the session
    Pair("Sarama#3574", "sarama@1.49.0", "sarama@1.50.0",
         "group", "offsets-not-loaded", "fails"),
    # partitions that are kept in a rebalance are never fetched again
    Pair("kafka-python#3131", "kafka-python@3.0.8", "kafka-python@3.0.9",
         "group", "rebalance-during-commit", "stuck"),
    # a partition whose leader epoch was once unknown is never produced to
    Pair("librdkafka#4804", "confluent-kafka@2.6.1", "confluent-kafka@2.8.0",
         "idempotent", "topic-not-known-yet", "stuck"),
    # a commit that is refused in a rebalance ends the consumer
    Pair("kafkajs#1474", "kafkajs@2.2.3", "kafkajs@2.2.4",
         "group", "commits-during-rebalance", "fails"),
)
# fmt: on
"""All of them."""


def groups(pairs: tuple[Pair, ...]) -> dict[tuple[str, str], list[Pair]]:
    """Pairs that run the same: (workload, scenario) -> its pairs."""
    found: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        found.setdefault((pair.workload, pair.scenario), []).append(pair)
    return found
