"""Offsets are committed with a generation that is over."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import CLASSIC, CONSUMER, Group, group_behind
from tests.experiments.scenarios.kafka import fired, until

pytestmark = pytest.mark.needs_apache("4.3.1")


def read(group: Group, settings: dict[str, Any]) -> list[str]:
    """Two members read and commit; gives what became of the commits that were too old."""
    group.join(2, settings)
    group.until_shared()
    rule = group.proxy.rules.rule("a commit of a generation that is over")
    while rule.fired < 2:
        group.send(12)
        until(lambda: len(group.received) == group.sent, "records come")
    group.until_shared()
    group.send(60)
    group.until_done()
    return [one.error or "" for one in fired(group.proxy, rule.name)]


def test_a_member_begins_anew_where_the_last_good_commit_was(cluster: ApacheCluster) -> None:
    with group_behind("commits-during-rebalance", cluster) as group:
        assert read(group, CLASSIC) == ["ILLEGAL_GENERATION"] * 2
    told = [what for member in group.members for what in member.told]
    assert told.count("ILLEGAL_GENERATION") == 2
    assert "lost" in told
    assert 0 < group.twice <= 24


def test_a_member_of_the_new_protocol_stays(cluster: ApacheCluster) -> None:
    with group_behind("commits-during-rebalance", cluster, "-new") as group:
        assert read(group, CONSUMER) == ["STALE_MEMBER_EPOCH"] * 2
    told = [what for member in group.members for what in member.told]
    assert told.count("STALE_MEMBER_EPOCH") == 2
    assert "lost" not in told
    assert [len(ids) for ids in group.member_ids.values()] == [1, 1]
    assert group.twice == 0
