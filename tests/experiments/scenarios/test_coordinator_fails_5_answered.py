"""Some members hear of a new generation, the others lose their connections."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import generation, group_behind, meet_newcomer
from tests.experiments.scenarios.kafka import fired

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_who_was_not_told_joins_again(cluster: ApacheCluster) -> None:
    with group_behind("coordinator-fails-5-answered", cluster) as group:
        meet_newcomer(group)
    [lost] = fired(group.proxy, "some hear of the new generation and some do not")
    decided = generation(lost)
    joins = group.exchanges("JoinGroup")
    assert {one.client_id for one in joins if generation(one) == decided and one is not lost} >= (
        {"member-0", "member-1", "member-2"} - {lost.client_id}
    )
    again = [one for one in joins if one.client_id == lost.client_id and one.ts > lost.ts]
    assert not again[-1].error
    assert generation(again[-1]) >= decided
