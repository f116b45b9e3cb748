"""The answers to all JoinGroups of a generation are lost."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import generation, group_behind, meet_newcomer
from tests.experiments.scenarios.kafka import fired

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_all_join_again_before_anybody_goes_on(cluster: ApacheCluster) -> None:
    with group_behind("coordinator-fails-4-decided", cluster) as group:
        meet_newcomer(group)
    lost = fired(group.proxy, "the new generation is decided and nobody hears of it")
    assert sorted(one.client_id or "" for one in lost) == ["member-0", "member-1", "member-2"]
    [decided] = {generation(one) for one in lost}
    again = [one for one in group.exchanges("JoinGroup") if one.ts > lost[-1].ts and not one.error]
    assert {one.client_id for one in again} == {"member-0", "member-1", "member-2"}
    # the coordinator has kept what it decided; if its leader joins late, it decides once more
    assert min(generation(one) for one in again) >= decided
    synced = [one for one in group.exchanges("SyncGroup") if generation(one) >= decided]
    assert min(one.ts for one in synced) > min(one.ts for one in again)
