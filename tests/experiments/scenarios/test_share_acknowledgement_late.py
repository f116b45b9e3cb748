"""A share consumer's acknowledgement arrives when its lock has run out."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import fired, through
from tests.experiments.scenarios.shares import COUNT, read, shared_topic

pytestmark = pytest.mark.needs_apache("4.3.1")


@pytest.mark.parametrize(
    ("commit", "api"), [(False, "ShareFetch"), (True, "ShareAcknowledge")], ids=["fetch", "commit"]
)
def test_it_is_refused_and_the_records_come_again(
    cluster: ApacheCluster, commit: bool, api: str
) -> None:
    topic = shared_topic(cluster.bootstrap, f"share-late-{api}")
    with through("share-acknowledgement-late", cluster.bootstrap) as proxy:
        found = read(proxy.bootstrap, topic, commit=commit)
    (late,) = fired(proxy, "an acknowledgement is late")
    assert (late.api, late.error) == (api, "INVALID_RECORD_STATE")
    assert (late.latency_ms or 0) > 2000
    assert found.acknowledged == ["INVALID_RECORD_STATE", ""]
    assert Counter(found.offsets) == dict.fromkeys(range(COUNT), 2)
