"""One member of a group hears late of a rebalance."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import group_behind
from tests.experiments.scenarios.kafka import fired, until

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_the_newcomer_gets_nothing_until_it_has_joined(cluster: ApacheCluster) -> None:
    with group_behind("late-join", cluster) as group:
        group.join()
        group.until_shared()
        group.join()
        late = group.proxy.rules.rule("one member hears late of the rebalance")
        until(lambda: late.fired, "the rebalance")
        first, newcomer = group.members
        group.send(60)
        until(lambda: first.received, "the late one reads on")
        assert newcomer.told == []
        group.until_shared()
        group.send(60)
        group.until_done()
    [told] = fired(group.proxy, late.name)
    assert (told.client_id, told.error) == ("member-0", "REBALANCE_IN_PROGRESS")
    waited = [one for one in group.exchanges("JoinGroup") if one.client_id == "member-1"][-1]
    assert waited.error == ""
    assert (waited.latency_ms or 0) > 3000
    assert newcomer.received
    assert group.twice == 0
