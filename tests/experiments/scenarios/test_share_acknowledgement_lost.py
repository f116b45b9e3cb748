"""A share consumer's acknowledgement does not reach the broker."""

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
def test_the_application_is_told_and_the_records_come_again(
    cluster: ApacheCluster, commit: bool, api: str
) -> None:
    topic = shared_topic(cluster.bootstrap, f"share-{api}")
    with through("share-acknowledgement-lost", cluster.bootstrap) as proxy:
        found = read(proxy.bootstrap, topic, commit=commit)
    lost = fired(proxy, "an acknowledgement is lost")
    assert [(one.api, one.response) for one in lost] == [(api, None)] * 2
    assert found.acknowledged[:2] == ["_TRANSPORT"] * 2
    assert Counter(found.offsets) == dict.fromkeys(range(COUNT), 3)
