"""One member has joined again, the next one's JoinGroup is lost."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import group_behind, meet_newcomer
from tests.experiments.scenarios.kafka import fired

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_who_did_not_get_through_joins_again_and_all_get_their_answers(
    cluster: ApacheCluster,
) -> None:
    with group_behind("coordinator-fails-3-joining", cluster) as group:
        meet_newcomer(group)
    [lost] = fired(group.proxy, "one joins again and the next one does not get through")
    assert (lost.api, lost.response) == ("JoinGroup", None)
    [told] = fired(group.proxy, "a rebalance begins")
    joins = [one for one in group.exchanges("JoinGroup") if one.ts > told.ts and one is not lost]
    assert joins[0].client_id != lost.client_id
    assert joins[0].ts < lost.ts
    again = next(one for one in joins if one.client_id == lost.client_id and not one.error)
    assert again.ts > fired(group.proxy, "another one is looked for")[-1].ts
