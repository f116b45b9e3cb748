"""One member is told of a rebalance, the next one loses its connection instead."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import group_behind, meet_newcomer
from tests.experiments.scenarios.kafka import fired

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_who_was_not_told_is_told_by_the_next_heartbeat(cluster: ApacheCluster) -> None:
    with group_behind("coordinator-fails-2-telling", cluster) as group:
        meet_newcomer(group)
    [lost] = fired(group.proxy, "one is told of the rebalance and the next one is not")
    [begun] = fired(group.proxy, "a group is at work")
    told = [
        one
        for one in group.exchanges("Heartbeat")
        if one.ts > begun.ts and one.error == "REBALANCE_IN_PROGRESS" and one is not lost
    ]
    first, *others = told
    assert {first.client_id, lost.client_id} == {"member-0", "member-1"}
    again = next(one for one in others if one.client_id == lost.client_id)
    assert again.ts > fired(group.proxy, "another one is looked for")[-1].ts
