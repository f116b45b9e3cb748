"""A member of a group of the new protocol does not hear what it was given."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.groups import CONSUMER, group_behind
from tests.experiments.scenarios.kafka import fired

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_it_asks_again_with_its_epoch_and_gets_the_same_answer(cluster: ApacheCluster) -> None:
    with group_behind("group-heartbeat-reply-lost", cluster) as group:
        group.join(2, CONSUMER)
        group.until_shared()
        group.send(60)
        group.until_done()
        group.join(1, CONSUMER)
        group.send(60)
        group.until_shared()
        group.until_done()
    beats = group.exchanges("ConsumerGroupHeartbeat")
    lost = fired(group.proxy, "it has other partitions and does not hear of it")
    assert len(lost) == 3
    for one in lost:
        again = next(b for b in beats if b.client_id == one.client_id and b.ts > one.ts)
        assert one.request is not None
        assert again.request is not None
        assert again.request["member_epoch"] == one.request["member_epoch"]
        assert again.request["member_id"] == one.request["member_id"]
    assert {one.error for one in beats} == {""}
    assert [len(ids) for ids in group.member_ids.values()] == [1, 1, 1]
    assert group.twice == 0
