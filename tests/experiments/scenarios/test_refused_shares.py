"""Brokers refuse sessions of share consumers."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients import preparation
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.kafka import through
from tests.experiments.scenarios.shares import COUNT, read, shared_topic
from tests.experiments.scenarios.trials import SOON, captured, run_workload

pytestmark = pytest.mark.needs_apache("4.3.1")


def opens_a_session_again(fetches: list[Exchange]) -> None:
    """Check that the broker had no room twice, and that the client tried again with all partitions."""
    refused = [fetch for fetch in fetches if fetch.rules]
    assert [fetch.error for fetch in refused] == ["SHARE_SESSION_LIMIT_REACHED"] * 2
    for fetch in refused:
        assert (fetch.latency_ms or 0) >= 500
        later = [again for again in fetches if again.broker == fetch.broker and again.ts > fetch.ts]
        assert fetch.request is not None
        assert later[0].request is not None
        assert later[0].request["share_session_epoch"] == 0
        assert later[0].request["topics"] == fetch.request["topics"]


def joined_once(beats: list[Exchange]) -> None:
    """Check that the member joined once and got no error."""
    assert {beat.error for beat in beats} == {""}
    epochs = [beat.request["member_epoch"] for beat in beats if beat.request]
    assert epochs.count(0) == 1


def test_librdkafka_opens_a_session_when_there_is_room(cluster: ApacheCluster) -> None:
    topic = shared_topic(cluster.bootstrap, "share-session-limit")
    with through("share-session-limit", cluster.bootstrap) as proxy:
        delivered = read(proxy.bootstrap, topic, commit=False)
    opens_a_session_again(of_api(proxy, "ShareFetch"))
    joined_once(of_api(proxy, "ShareGroupHeartbeat"))
    assert delivered.offsets == list(range(COUNT))
    assert delivered.acknowledged == [""]


def test_java_opens_a_session_when_there_is_room(
    cluster: ApacheCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "SOON", SOON)
    ended = run_workload("java", "share-group", "share-session-limit", cluster.bootstrap, tmp_path)
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    opens_a_session_again(captured(tmp_path, "ShareFetch"))
    joined_once(captured(tmp_path, "ShareGroupHeartbeat"))
