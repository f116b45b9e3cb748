"""A group's coordinator moves while its members read and commit."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import CLASSIC, CONSUMER, group_of
from tests.experiments.scenarios.kafka import fired, ready, until

pytestmark = pytest.mark.needs_apache("4.3.1")


@pytest.mark.parametrize(
    ("settings", "suffix"), [(CLASSIC, ""), (CONSUMER, "-new")], ids=["classic", "consumer"]
)
def test_members_find_it_and_stay_who_they_are(
    cluster: ApacheCluster, settings: dict[str, Any], suffix: str
) -> None:
    with group_of(Harness(cluster.bootstrap), cluster, "coordinator-moves" + suffix) as group:
        group.join(2, settings)
        group.until_shared()
        group.proxy.replace(ready("coordinator-moves"))  # how long joining takes, nobody knows
        moved = group.proxy.rules.rule("it is not the coordinator any longer")
        loading = group.proxy.rules.rule("the new coordinator is loading the group")
        while not moved.fired:
            group.send(12)
            until(lambda: len(group.received) == group.sent or moved.fired, "records or the move")
        group.send(60)
        group.until_done()
        until(lambda: loading.fired == 3, "the new coordinator has loaded the group")
        group.send(60)
        group.until_done()
    refused = fired(group.proxy, moved.name)
    assert {one.error for one in refused} == {"NOT_COORDINATOR"}
    asked = fired(group.proxy, "nobody knows the coordinator")
    assert [one.error for one in asked] == ["COORDINATOR_NOT_AVAILABLE"] * 2
    waited = fired(group.proxy, loading.name)
    assert [one.error for one in waited] == ["COORDINATOR_LOAD_IN_PROGRESS"] * 3
    assert [len(ids) for ids in group.member_ids.values()] == [1, 1]
    assert not [one for one in group.exchanges("JoinGroup") if one.ts > min(r.ts for r in refused)]
    assert group.twice == 0
