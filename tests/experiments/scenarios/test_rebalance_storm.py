"""Members of a group are told over and over to join again."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import group_behind
from tests.experiments.scenarios.kafka import fired, until

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_the_group_gets_on_between_rebalances_and_is_stable_behind_them(
    cluster: ApacheCluster,
) -> None:
    with group_behind("rebalance-storm", cluster) as group:
        group.join(2)
        group.until_shared()
        storm = group.proxy.rules.rule("a rebalance, again")
        while storm.fired < 8:  # four for each
            group.send(12)
            until(lambda: len(group.received) == group.sent, "records come between rebalances")
        group.until_shared()
        group.until_done()
    told = fired(group.proxy, storm.name)
    assert {one.error for one in told} == {"REBALANCE_IN_PROGRESS"}
    for name in ("member-0", "member-1"):
        mine = [one.ts for one in told if one.client_id == name]
        joins = [one.ts for one in group.exchanges("JoinGroup") if one.client_id == name]
        assert len(mine) == 4
        assert all(any(join > one for join in joins) for one in mine)
    assert [len(ids) for ids in group.member_ids.values()] == [1, 1]
    assert group.twice == 0
