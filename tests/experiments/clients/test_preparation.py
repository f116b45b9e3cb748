"""The topics that a trial prepares, on real brokers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.draws import plain
from barnabas.experiments.clients.preparation import delete_topics, prepare
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import Workload, find
from barnabas.experiments.explore.history import Acknowledged, Sent
from barnabas.experiments.explore.read_log import read_log
from barnabas.peers.apache.cluster import ApacheCluster
from barnabas.peers.apache.probe import ask
from barnabas.specs.keys import METADATA

pytestmark = [pytest.mark.needs_apache("4.3.1"), pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def cluster() -> Any:
    with Brokers("apache:4.3.1") as brokers:
        brokers.bootstrap()
        yield brokers.cluster


def setup(cluster: ApacheCluster, workload: Workload, folder: Path, **features: Any) -> TrialSetup:
    drawn = plain(workload).model_copy(update={"partitions": 2, **features})
    return TrialSetup(cluster.bootstrap, folder, drawn=drawn, cluster=cluster)


def ids(cluster: ApacheCluster, topics: list[str]) -> list[str]:
    """The values of all records that the brokers have."""
    log = read_log(cluster.bootstrap, topics, {}, lambda message: (message.value() or b"").decode())
    return sorted(record.id for record in log.records)


def test_deleted_records_are_gone_and_the_log_begins_after_them(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    group = find("group")
    place = setup(cluster, group, tmp_path, history="deleted", topics=2)
    prepared = prepare(place, "deleted", group)
    names = [f"deleted-{number}" for number in range(100)]
    assert ids(cluster, ["deleted", "deleted-topic-2"]) == sorted(names)
    sent = {event.id: event.topic for event in prepared.events if isinstance(event, Sent)}
    assert [*sent] == names
    assert {*sent.values()} == {"deleted", "deleted-topic-2"}
    assert sum(prepared.starts.values()) == 80
    acknowledged = [event.id for event in prepared.events if isinstance(event, Acknowledged)]
    assert acknowledged == names


def test_committed_records_stay_and_the_group_begins_after_them(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    from confluent_kafka import Consumer, TopicPartition

    group = find("group")
    place = setup(cluster, group, tmp_path, history="committed")
    prepared = prepare(place, "committed", group)
    assert len(ids(cluster, ["committed"])) == 140
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "committed-group"})
    committed = consumer.committed([TopicPartition("committed", n) for n in range(2)], 20)
    consumer.close()
    assert {(each.topic, each.partition): each.offset for each in committed} == prepared.starts


def test_deleted_topics_are_gone_and_others_stay(cluster: ApacheCluster, tmp_path: Path) -> None:
    from confluent_kafka.admin import AdminClient

    group = find("group")
    place = setup(cluster, group, tmp_path, topics=2)
    prepared = prepare(place, "over", group)
    prepare(place, "next", group)
    delete_topics(place, [*prepared.topics, "never-created"])
    topics = AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics(timeout=20).topics
    assert {name for name in topics if name.startswith(("over", "next"))} == {
        "next",
        "next-topic-2",
    }


def test_moved_partitions_have_leader_epochs_above_0(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    produce = find("produce")
    prepare(setup(cluster, produce, tmp_path, moved=True), "moved", produce)
    port = next(iter(cluster.nodes.values())).port
    answer = ask(port, METADATA, 8, {"topics": [{"name": "moved"}]}, 20)
    epochs = [part["leader_epoch"] for topic in answer["topics"] for part in topic["partitions"]]
    assert len(epochs) == 2
    assert min(epochs) > 0


def test_a_compacted_topic_has_tombstones_and_no_values_before_them(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    compacted = find("compacted")
    prepare(setup(cluster, compacted, tmp_path), "compacted", compacted)
    held = ids(cluster, ["compacted"])
    assert not [name for name in held if "-deleted-" in name]
    assert held.count("") == 40
    assert set(held) >= {f"compacted-{number}" for number in range(100)}
