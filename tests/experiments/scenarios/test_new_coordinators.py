"""Coordinators of consumer, share and streams groups fail while members join, get partitions, and leave."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients import preparation, workloads
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.groups import (
    CONSUMER,
    PARTITIONS,
    configure_group,
    group_behind,
)
from tests.experiments.scenarios.java_client import Reading, ScenarioClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    at_once,
    fired,
    made_topic,
    numbers,
    send,
    through,
)
from tests.experiments.scenarios.shares import COUNT, Delivered, read, shared_topic
from tests.experiments.scenarios.trials import SOON, captured, copy_records, run_workload
from tests.waiting import until

pytestmark = pytest.mark.needs_apache("4.3.1")

JOINS = "the coordinator fails when a third member joins"
ASSIGNS = "the coordinator fails when it gives assignments"
GIVES_UP = "the coordinator fails when a member has given up partitions"
REPORTS = "the coordinator fails when a member reports its tasks"
LEAVES = "the coordinator fails when a member leaves"
LAST = "the broker is no longer the coordinator"
REFUSALS = {
    "no broker is the coordinator": ["COORDINATOR_NOT_AVAILABLE"] * 4,
    "the broker is not the coordinator": ["NOT_COORDINATOR"] * 3,
    "the next coordinator is loading the group": ["COORDINATOR_LOAD_IN_PROGRESS"] * 3,
    LAST: ["NOT_COORDINATOR"] * 3,
}
SESSION = {"consumer.session.timeout.ms": "3000"}


def request_field(exchange: Exchange, field: str) -> object:
    """Return a field of the request's body."""
    assert exchange.request is not None
    return exchange.request[field]


def repeated(exchange: Exchange, beats: list[Exchange]) -> Exchange:
    """Return the client's next heartbeat that the coordinator accepts."""
    later = [beat for beat in beats if beat.ts > exchange.ts and not beat.error and beat.response]
    return next(beat for beat in later if beat.client_id == exchange.client_id)


def consumers_survive(proxy: Harness) -> None:
    """Check that each member kept its id, its epoch and its partitions, whatever failed."""
    for rule, refusals in REFUSALS.items():
        assert [exchange.error for exchange in fired(proxy, rule)] == refusals
    beats = of_api(proxy, "ConsumerGroupHeartbeat")
    [join] = fired(proxy, JOINS)
    [report] = fired(proxy, GIVES_UP)
    assert (join.response, report.response) == (None, None)
    for lost in (join, report, *fired(proxy, ASSIGNS)):
        again = repeated(lost, beats)
        for field in ("member_id", "member_epoch"):
            assert request_field(again, field) == request_field(lost, field)
        # None: as in the request before it
        assert request_field(lost, "topic_partitions") in (
            None,
            request_field(again, "topic_partitions"),
        )
        assert request_field(again, "subscribed_topic_names")
    begun = [beat for beat in beats if not beat.error and request_field(beat, "member_epoch") == 0]
    members = Counter(str(request_field(beat, "member_id")) for beat in begun if beat.response)
    assert len(members) == 3
    [leave] = fired(proxy, LEAVES)
    assert [beat for beat in beats if beat.client_id == leave.client_id][-1] is leave


def test_members_of_a_consumer_group_stay_when_coordinators_fail(cluster: ApacheCluster) -> None:
    configure_group(cluster.bootstrap, "consumer-coordinator-fails", SESSION)
    with group_behind("consumer-coordinator-fails", cluster) as group:
        group.join(2, CONSUMER)
        group.work()
        group.join(1, CONSUMER)
        group.work_until(LAST, 3)
        group.work()
        group.members[2].leave()
        until(lambda: [len(member.owned) for member in group.members] == [3, 3, 0], "two share")
        assert group.stayed
        failed_commits = set(group.told) - {"assigned", "revoked"}
        assert failed_commits <= {"NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"}
        assert group.twice == 0 or failed_commits
    consumers_survive(group.proxy)
    # who has left owns its partitions until its session ends
    [leave] = fired(group.proxy, LEAVES)
    given = [beat for beat in group.exchanges("ConsumerGroupHeartbeat") if beat.ts > leave.ts]
    given = [beat for beat in given if beat.response and beat.response["assignment"]]
    assert (given[0].ts - leave.ts) / 1e9 > 2


def test_java_members_of_a_consumer_group_stay_when_coordinators_fail(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = made_topic(cluster.bootstrap, "consumer-coordinator-fails-java", PARTITIONS)
    configure_group(cluster.bootstrap, topic, SESSION)
    own = {"enable.auto.commit": "false", "max.poll.records": "4", "group.protocol": "consumer"}
    with through("consumer-coordinator-fails", cluster.bootstrap) as proxy:
        settings = {**JAVA, **own, "bootstrap.servers": proxy.bootstrap}

        def write() -> None:
            send(cluster.bootstrap, topic, numbers(60), partitions=PARTITIONS)
            until(lambda: proxy.rules.rule(LAST).fired == 3, "the coordinator has failed")
            send(cluster.bootstrap, topic, numbers(60, 60), partitions=PARTITIONS)

        reading = Reading(joins=(0, 0, 60), seconds=60)
        members, _ = at_once(lambda: java.read_together(topic, 120, settings, reading), write)
    consumers_survive(proxy)
    assert sum(len(member.received) for member in members) == 120
    assert {what.split()[0] for member in members for what in member.told} <= {
        "assigned",
        "revoked",
    }


def test_a_share_consumer_stays_when_coordinators_fail(cluster: ApacheCluster) -> None:
    topic = shared_topic(cluster.bootstrap, "share-coordinator-fails")
    with through("share-coordinator-fails", cluster.bootstrap) as proxy:
        moved = proxy.rules.rule("the broker is no longer the coordinator")
        further_values = [numbers(COUNT)]

        def done(delivered: Delivered) -> bool:
            beats = of_api(proxy, "ShareGroupHeartbeat")
            recovered = moved.fired == 2 and not beats[-1].error
            if recovered and further_values:
                send(cluster.bootstrap, topic, further_values.pop())
            return len(delivered.offsets) == 2 * COUNT

        delivered = read(proxy.bootstrap, topic, commit=True, done=done)
    assert delivered.offsets == list(range(2 * COUNT))
    assert set(delivered.acknowledged) == {""}
    errors = {
        "the coordinator fails when a member joins": [None],
        "no broker is the coordinator": ["COORDINATOR_NOT_AVAILABLE"] * 2,
        "the coordinator fails when it gives partitions": [""],
        "the next coordinator is loading the group": ["COORDINATOR_LOAD_IN_PROGRESS"] * 2,
        moved.name: ["NOT_COORDINATOR"] * 2,
        LEAVES: [None],
    }
    for rule, expected in errors.items():
        assert [exchange.error for exchange in fired(proxy, rule)] == expected
    beats = of_api(proxy, "ShareGroupHeartbeat")
    assert len({request_field(beat, "member_id") for beat in beats}) == 1
    faults = [beat for beat in beats if beat.rules]
    for fault in faults[:-1]:
        again = next(beat for beat in beats if beat.ts > fault.ts)
        assert request_field(again, "member_epoch") == request_field(fault, "member_epoch")
        assert request_field(again, "subscribed_topic_names") == [topic]
    assert faults[-1] is beats[-1]


def test_java_shares_when_coordinators_fail(
    cluster: ApacheCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "SOON", SOON)
    ended = run_workload(
        "java", "share-group", "share-coordinator-fails", cluster.bootstrap, tmp_path
    )
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    beats = captured(tmp_path, "ShareGroupHeartbeat")
    faults = [beat for beat in beats if beat.rules]
    errors = ["COORDINATOR_LOAD_IN_PROGRESS"] * 2 + ["NOT_COORDINATOR"] * 2
    assert [fault.error for fault in faults] == [None, "", *errors, None]
    assert len({request_field(beat, "member_id") for beat in beats}) == 1
    assert faults[-1] is beats[-1]


def test_kafka_streams_stays_when_coordinators_fail(
    cluster: ApacheCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "SOON", SOON)
    ended = copy_records("kafka-streams", "streams-coordinator-fails", cluster.bootstrap, tmp_path)
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    beats = captured(tmp_path, "StreamsGroupHeartbeat")
    faults = [beat for beat in beats if beat.rules]
    loading = ("the next coordinator is loading the group", "COORDINATOR_LOAD_IN_PROGRESS")
    assert [(beat.rules[0], beat.error) for beat in faults] == [
        ("the coordinator fails when a member joins", None),
        (REPORTS, None),
        loading,
        loading,
        (LEAVES, None),
    ]
    assert len({request_field(beat, "member_id") for beat in beats}) == 1
    for fault in faults[:-1]:
        again = beats[beats.index(fault) + 1]
        for field in ("member_epoch", "topology", "active_tasks"):
            assert request_field(again, field) == request_field(fault, field)
    assert faults[-1] is beats[-1]
    commits = captured(tmp_path, "TxnOffsetCommit")
    assert [commit.error for commit in commits[:3]] == ["NOT_COORDINATOR"] * 2 + [""]
    for field in ("producer_id", "producer_epoch", "member_id", "topics"):
        assert len({str(request_field(commit, field)) for commit in commits[:3]}) == 1


def test_kafka_streams_gets_no_tasks_when_the_response_with_them_is_lost(
    cluster: ApacheCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "SOON", SOON)
    monkeypatch.setattr(workloads, "PATIENCE", 20.0)
    ended = copy_records("kafka-streams", "streams-tasks-reply-lost", cluster.bootstrap, tmp_path)
    assert ended.raised == "GaveUpError: 40 records were not delivered"
    beats = captured(tmp_path, "StreamsGroupHeartbeat")
    [lost] = [beat for beat in beats if beat.rules]
    later = [beat for beat in beats if beat.ts > lost.ts and request_field(beat, "member_epoch")]
    staying = [beat for beat in later if request_field(beat, "member_epoch") != -1]
    assert request_field(staying[0], "member_epoch") == request_field(lost, "member_epoch")
    assert request_field(staying[0], "active_tasks") == []
    for beat in staying:
        assert beat.response is not None
        assert (beat.error, beat.response["member_epoch"]) == ("", 2)
        assert beat.response["active_tasks"] is None
