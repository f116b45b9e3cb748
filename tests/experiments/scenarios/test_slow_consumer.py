"""A heartbeat comes when the session is over."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import group_behind
from tests.experiments.scenarios.kafka import fired, until

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_others_take_over_and_it_joins_as_a_new_member(cluster: ApacheCluster) -> None:
    with group_behind("slow-consumer", cluster) as group:
        group.join(2)
        group.until_shared()
        slow_beat = group.proxy.rules.rule("a heartbeat later than the session")
        until(lambda: slow_beat.fired, "heartbeats")
        group.send(60)
        until(lambda: max(len(one.owned) for one in group.members) == 6, "one owns all of them")
        group.until_shared()
        group.until_done()
    [late] = fired(group.proxy, slow_beat.name)
    assert late.error == "UNKNOWN_MEMBER_ID"
    [slow] = [one for one in group.members if one.name == late.client_id]
    [other] = [one for one in group.members if one is not slow]
    assert "lost" in slow.told
    assert "lost" not in other.told
    assert {name: len(ids) for name, ids in group.member_ids.items()} == {
        slow.name: 2,
        other.name: 1,
    }
    # what the slow one had read and could not commit any longer
    assert 0 < group.twice <= 30
