"""A broker does not know a share session any longer."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import fired, through
from tests.experiments.scenarios.shares import COUNT, read, shared_topic

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_it_begins_a_new_one_and_the_records_come_again(cluster: ApacheCluster) -> None:
    topic = shared_topic(cluster.bootstrap, "share-session")
    with through("share-session-lost", cluster.bootstrap) as proxy:
        found = read(proxy.bootstrap, topic, commit=False)
    errors = "SHARE_SESSION_NOT_FOUND", "INVALID_SHARE_SESSION_EPOCH"
    fetches = [one for one in proxy.exchanges if one.api == "ShareFetch"]
    refused = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [one.error for one in refused] == [*errors]
    for one in refused:
        again = next(fetch for fetch in fetches if fetch.ts > one.ts)
        assert again.request is not None
        assert again.request["share_session_epoch"] == 0
        assert [len(named["partitions"]) for named in again.request["topics"]] == [1]
    assert found.acknowledged == [*errors, ""]
    assert Counter(found.offsets) == dict.fromkeys(range(COUNT), 3)
    beats = [one for one in proxy.exchanges if one.api == "ShareGroupHeartbeat" and not one.error]
    epochs = [one.request["member_epoch"] for one in beats if one.request is not None]
    assert epochs.count(0) == 1
