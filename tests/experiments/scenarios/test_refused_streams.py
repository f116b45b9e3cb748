"""Coordinators refuse members of streams groups, or let them wait for topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.experiments.clients import preparation
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import fired, through
from tests.experiments.scenarios.trials import SOON, captured, copy_records

pytestmark = pytest.mark.needs_apache("4.3.1")

REFUSALS = {
    "STREAMS_INVALID_TOPOLOGY": "StreamsInvalidTopologyException",
    "STREAMS_INVALID_TOPOLOGY_EPOCH": "StreamsInvalidTopologyEpochException",
    "STREAMS_TOPOLOGY_FENCED": "StreamsTopologyFencedException",
    "GROUP_MAX_SIZE_REACHED": "GroupMaxSizeReachedException",
}
BEATS = "StreamsGroupHeartbeat"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give brokers more time to make the topics of a trial."""
    monkeypatch.setattr(preparation, "SOON", SOON)


def test_kafka_streams_shuts_down_where_its_topology_is_refused(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    with through("streams-topology-refused", cluster.bootstrap) as proxy:
        for error, exception in REFUSALS.items():
            ended = copy_records("kafka-streams", None, proxy.bootstrap, tmp_path)
            assert f"StreamsException: org.apache.kafka.common.errors.{exception}" in ended.raised
            [refused] = [beat for beat in captured(tmp_path, BEATS) if beat.error]
            assert refused.error == error
            assert captured(tmp_path, BEATS)[-1] == refused
            assert captured(tmp_path, "TxnOffsetCommit") == []
        ended = copy_records("kafka-streams", None, proxy.bootstrap, tmp_path)
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    refusals = [one.error for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert refusals == list(REFUSALS)


def test_kafka_streams_waits_for_missing_topics(cluster: ApacheCluster, tmp_path: Path) -> None:
    ended = copy_records("kafka-streams", "streams-topics-missing", cluster.bootstrap, tmp_path)
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    beats = captured(tmp_path, BEATS)
    statuses = [
        [status["status_code"] for status in beat.response["status"]]
        for beat in beats
        if beat.response
    ]
    assert statuses[:3] == [[1], [3], []]
    assert [len(beat.rules) for beat in beats[:3]] == [1, 1, 0]
    assert len({beat.request["member_id"] for beat in beats if beat.request}) == 1
    ready = beats[2].response
    assert ready is not None
    assert ready["active_tasks"]
    producing = captured(tmp_path, "InitProducerId", "TxnOffsetCommit")
    assert producing[0].ts > beats[2].ts
