"""A share consumer's acknowledgement arrives twice."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import fired, numbers, send, through
from tests.experiments.scenarios.shares import COUNT, read, shared_topic

pytestmark = pytest.mark.needs_apache("4.3.1")


@pytest.mark.parametrize(
    ("commit", "api"), [(False, "ShareFetch"), (True, "ShareAcknowledge")], ids=["fetch", "commit"]
)
def test_the_second_one_changes_nothing(cluster: ApacheCluster, commit: bool, api: str) -> None:
    topic = shared_topic(cluster.bootstrap, f"share-twice-{api}")
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
    assert Counter(found.offsets) == dict.fromkeys(range(COUNT), 1)
    assert Counter(more.offsets) == dict.fromkeys(range(COUNT, 2 * COUNT), 1)
