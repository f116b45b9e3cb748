"""Scenarios that a client gets over with real brokers: all that is sent is there, once and in order."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.bench import Row, Trial
from tests.experiments.scenarios.kafka import JAVA_FEW

pytestmark = pytest.mark.needs_apache("4.3.1")

RDKAFKA, JAVA = "librdkafka", "java"
OFTEN: Final = {"topic.metadata.refresh.interval.ms": 100}
ALICE: Final[dict[str, Any]] = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "alice",
    "sasl.password": "secret",
}

# fmt: off
ROWS = [
    Row("api-versions-refused", RDKAFKA, "write and read", expect.asks_versions_again(0), partitions=3),
    Row("api-versions-refused", JAVA, "write, read", expect.asks_versions_again(2)),
    Row("batch-stored-twice", RDKAFKA, "write", expect.rules({"a batch arrives twice": "Produce "}), 30),
    Row("batch-stored-twice", JAVA, "write", expect.rules({"a batch arrives twice": "Produce "}), 30),
    Row("brokers-disagree", RDKAFKA, "write", expect.refused_by_broker_1, 200, 3, OFTEN, seconds=2),
    Row("corrupt-produce", RDKAFKA, "write", expect.refuses_corrupt_batches, 30),
    Row("corrupt-produce", JAVA, "write", expect.refuses_corrupt_batches, 60),
    Row("fenced-leader-epoch", RDKAFKA, "read", expect.fetches_again, few=True, seconds=1),
    Row("fetch-session-lost", JAVA, "read", expect.opens_another_fetch_session, own=JAVA_FEW, seconds=1),
    Row("fetch-session-lost", RDKAFKA, "read", expect.has_no_fetch_session, 40, few=True, seconds=1,
        errors=("INCONSISTENT_TOPIC_ID",)),
    Row("flapping-network", RDKAFKA, "write and read", expect.connects_again, 300, 3, seconds=3.5,
        again=True),
    Row("leader-epoch-goes-back", RDKAFKA, "write and read", expect.keeps_the_newest_epoch, own=OFTEN,
        seconds=1, moved=True),
    # storms are from 2.0 to 2.5 s and from 4.5 to 5 s: a client that slept through the first sees the second
    Row("leader-failover-storm", RDKAFKA, "write and read", expect.finds_leaders_again, 300, 3, seconds=6),
    Row("leader-failover-storm", JAVA, "read", expect.begins_fetch_session_again, 300, 3, seconds=6),
    # by 2 % each, one of so many is all but sure to lose its answer, whichever brokers lead
    Row("lossy-network", RDKAFKA, "write and read", expect.loses_answers_to_produce, 1200, 3,
        own={"socket.timeout.ms": 1000}),
    Row("lossy-network", RDKAFKA, "read stored", expect.loses_lines_of_fetch, 240, few=True),
    Row("not-enough-replicas", RDKAFKA, "write", expect.lacks_replicas, 40),
    Row("not-enough-replicas", JAVA, "write", expect.lacks_replicas, 40),
    Row("offset-not-available", RDKAFKA, "read", expect.asks_for_an_offset_again, few=True, seconds=1),
    Row("offset-not-available", JAVA, "read", expect.asks_for_an_offset_again, own=JAVA_FEW, seconds=1),
    Row("offsets-not-loaded", JAVA, "read stored", expect.asks_for_offsets_again, 12),
    Row("one-partition-times-out", RDKAFKA, "write", expect.times_out_for_one_partition, 60, 2),
    Row("out-of-order-sequences", JAVA, "write", expect.overtaken, 100),
    Row("preferred-replica-fails", RDKAFKA, "read", expect.reads_from_both, few=True, seconds=1,
        replicas=2),
    Row("produce-timed-out", RDKAFKA, "write", expect.timed_out_and_out_of_order, 30),
    Row("producer-id-late", RDKAFKA, "write", expect.asks_for_its_id_again, 3),
    Row("producer-state-lost", RDKAFKA, "write", expect.loses_producer_state),
    Row("producer-state-lost", JAVA, "write", expect.loses_producer_state),
    Row("rebootstrap-required", RDKAFKA, "write and read", expect.begins_with_bootstrap_servers_again, 80,
        own={"topic.metadata.refresh.interval.ms": 200}, seconds=2),
    Row("sasl-session-ends", RDKAFKA, "write and read", expect.logs_in_again, 80, own=ALICE, seconds=2.5,
        sasl=True),
    Row("slow-acknowledgements", RDKAFKA, "write", expect.acknowledged_late, 8),
    Row("slow-broker", RDKAFKA, "write, read", expect.only_broker_1_is_late, 30, 3),
    Row("stale-leader-hint", RDKAFKA, "write and read", expect.keeps_to_the_newest_leader, few=True,
        seconds=1, moved=True),
    Row("storage-error", RDKAFKA, "write", expect.asks_for_metadata_again, 60, 3),
    Row("throttled-by-quota", RDKAFKA, "write and read", expect.waits_for_its_quota, 30, few=True),
    Row("topic-not-known-yet", RDKAFKA, "write", expect.waits_for_the_topic, 20, own=OFTEN),
    Row("topic-not-known-yet", RDKAFKA, "read stored", expect.waits_for_the_topic, 20, own=OFTEN,
        errors=("UNKNOWN_TOPIC_OR_PART",)),
    Row("topic-recreated", RDKAFKA, "read", partial(expect.refused_its_topic_id, api="Fetch"), few=True,
        seconds=1.5),
    # broker 1 is the old one from 2.2 s to 3.7 s, and the new one again from 4.4 s on
    Row("version-downgrade", RDKAFKA, "write and read", expect.keeps_to_what_is_offered("Produce", "Fetch"),
        300, 3, seconds=5, again=True),
]
# fmt: on


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.topic)
def test_all_is_there(row: Row, cluster: ApacheCluster, request: pytest.FixtureRequest) -> None:
    java = request.getfixturevalue("java") if row.client == JAVA else None
    Trial(row, cluster, java).run()
