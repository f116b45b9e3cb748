"""Scenarios that share consumers meet."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.kafka import fired, numbers, send, through
from tests.experiments.scenarios.shares import COUNT, Delivered, read, shared_topic

pytestmark = pytest.mark.needs_apache("4.3.1")

both_ways = pytest.mark.parametrize("api", ["ShareFetch", "ShareAcknowledge"])
"""Acknowledgements go with the next fetch, or are committed."""


def delivered(found: Delivered, times: int, begin: int = 0) -> bool:
    """Whether each record came so often."""
    return Counter(found.offsets) == dict.fromkeys(range(begin, begin + COUNT), times)


@both_ways
def test_an_acknowledgement_behind_its_lock_is_refused_and_the_records_come_again(
    cluster: ApacheCluster, api: str
) -> None:
    topic = shared_topic(cluster.bootstrap, f"share-late-{api}")
    with through("share-acknowledgement-late", cluster.bootstrap) as proxy:
        found = read(proxy.bootstrap, topic, commit=api == "ShareAcknowledge")
    (late,) = fired(proxy, "an acknowledgement is late")
    assert (late.api, late.error) == (api, "INVALID_RECORD_STATE")
    assert (late.latency_ms or 0) > 2000
    assert found.acknowledged == ["INVALID_RECORD_STATE", ""]
    assert delivered(found, 2)


@both_ways
def test_of_a_lost_acknowledgement_the_application_is_told_and_the_records_come_again(
    cluster: ApacheCluster, api: str
) -> None:
    topic = shared_topic(cluster.bootstrap, f"share-{api}")
    with through("share-acknowledgement-lost", cluster.bootstrap) as proxy:
        found = read(proxy.bootstrap, topic, commit=api == "ShareAcknowledge")
    lost = fired(proxy, "an acknowledgement is lost")
    assert [(one.api, one.response) for one in lost] == [(api, None)] * 2
    assert found.acknowledged[:2] == ["_TRANSPORT"] * 2
    assert delivered(found, 3)


@both_ways
def test_an_acknowledgement_that_arrives_twice_changes_nothing(
    cluster: ApacheCluster, api: str
) -> None:
    topic, commit = shared_topic(cluster.bootstrap, f"share-twice-{api}"), api == "ShareAcknowledge"
    with (
        Harness(cluster.bootstrap) as behind,
        through("share-acknowledgement-twice", behind.bootstrap) as proxy,
    ):
        found = read(proxy.bootstrap, topic, commit=commit)
        send(cluster.bootstrap, topic, numbers(COUNT))
        more = read(proxy.bootstrap, topic, commit=commit)
    twice = fired(proxy, "an acknowledgement arrives twice")
    assert {(one.api, one.error) for one in twice} == {(api, "")}
    answers = [one.error for one in behind.exchanges if one.api == api]
    assert answers.count("INVALID_SHARE_SESSION_EPOCH") == len(twice)
    assert found.acknowledged + more.acknowledged == ["", ""]
    assert delivered(found, 1)
    assert delivered(more, 1, begin=COUNT)


def test_who_has_lost_its_session_begins_a_new_one_and_the_records_come_again(
    cluster: ApacheCluster,
) -> None:
    topic = shared_topic(cluster.bootstrap, "share-session")
    with through("share-session-lost", cluster.bootstrap) as proxy:
        found = read(proxy.bootstrap, topic, commit=False)
    errors = "SHARE_SESSION_NOT_FOUND", "INVALID_SHARE_SESSION_EPOCH"
    refused = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [one.error for one in refused] == [*errors]
    for one in refused:
        again = next(fetch for fetch in of_api(proxy, "ShareFetch") if fetch.ts > one.ts)
        assert again.request is not None
        assert again.request["share_session_epoch"] == 0
        assert [len(named["partitions"]) for named in again.request["topics"]] == [1]
    assert found.acknowledged == [*errors, ""]
    assert delivered(found, 3)
    beats = [one for one in of_api(proxy, "ShareGroupHeartbeat") if not one.error]
    epochs = [one.request["member_epoch"] for one in beats if one.request is not None]
    assert epochs.count(0) == 1
