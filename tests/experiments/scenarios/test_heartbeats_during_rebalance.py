"""A rebalance takes longer than the session, in which one member waits without heartbeats."""

from __future__ import annotations

from typing import Final

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import CLASSIC, group_behind
from tests.experiments.scenarios.kafka import fired, until

pytestmark = pytest.mark.needs_apache("4.3.1")


SLOW: Final = CLASSIC | {"heartbeat.interval.ms": 2200}
"""Three of these are longer than the session that the scenario makes."""

SESSION: Final = 6000
"""Milliseconds."""


def test_who_waits_for_its_join_is_not_given_up(cluster: ApacheCluster) -> None:
    with group_behind("heartbeats-during-rebalance", cluster) as group:
        group.join(2, SLOW)
        group.until_shared()
        until(lambda: group.proxy.rules.rule("a group is at work").fired, "heartbeats")
        group.join(1, SLOW)
        group.send(60)
        group.until_shared()
        group.until_done()
    hidden = fired(group.proxy, "nothing is said of the rebalance")
    assert len(hidden) == 3
    [not_told] = {one.client_id for one in hidden}
    waits = [
        one
        for one in group.exchanges("JoinGroup")
        if one.client_id != not_told and (one.latency_ms or 0) > SESSION
    ]
    assert {one.client_id for one in waits} >= {"member-0", "member-1"} - {not_told}
    assert {one.error for one in waits} == {""}
    for one in waits:
        end = one.ts + (one.latency_ms or 0) * 1_000_000
        beats = [b for b in group.exchanges("Heartbeat") if b.client_id == one.client_id]
        assert not [beat for beat in beats if one.ts < beat.ts < end]
    assert [len(ids) for ids in group.member_ids.values()] == [1, 1, 1]
    assert group.twice == 0
