"""A newcomer's JoinGroup is lost with the coordinator."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import group_behind, meet_newcomer
from tests.experiments.scenarios.kafka import fired

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_the_newcomer_joins_again_and_only_then_the_others_are_told(cluster: ApacheCluster) -> None:
    with group_behind("coordinator-fails-1-notified", cluster) as group:
        meet_newcomer(group)
    [lost] = fired(group.proxy, "a newcomer comes and nothing is done about it")
    assert (lost.api, lost.client_id, lost.response) == ("JoinGroup", "member-2", None)
    refused = fired(group.proxy, "it is not the coordinator any longer")
    assert {one.error for one in refused} == {"NOT_COORDINATOR"}
    [begun] = fired(group.proxy, "a group is at work")
    behind = [one for one in group.exchanges("Heartbeat", "JoinGroup") if one.ts > begun.ts]
    joined = [one.ts for one in behind if one.api == "JoinGroup" and one.error == ""]
    told = [one.ts for one in behind if one.error == "REBALANCE_IN_PROGRESS"]
    assert lost.ts < min(joined) < min(told)
