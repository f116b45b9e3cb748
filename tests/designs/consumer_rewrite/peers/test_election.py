from __future__ import annotations

from collections import Counter

import pytest

from barnabas.designs.consumer_rewrite.peers.election import rank_for
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings

SLOTS = 24


def leaders(nodes: set[int]) -> list[int]:
    return [min(nodes, key=rank_for(slot)) for slot in range(SLOTS)]


@pytest.mark.parametrize("count", range(2, 9))
def test_slots_are_spread_over_brokers(count: int) -> None:
    led = Counter(leaders(set(range(1, count + 1))))
    assert len(led) == count
    assert max(led.values()) <= 3 * min(led.values())


def test_only_the_slots_of_who_goes_have_another_leader() -> None:
    before, after = leaders({1, 2, 3, 4}), leaders({1, 2, 4})
    moved = [slot for slot in range(SLOTS) if before[slot] != after[slot]]
    assert moved == [slot for slot in range(SLOTS) if before[slot] == 3]


async def test_a_broker_that_comes_back_leads_again_what_it_led() -> None:
    groups = [f"g{number}" for number in range(100)]
    settings = BrokerSettings(slots=SLOTS)

    def led() -> list[int | None]:
        return [cluster.coordinator(group) for group in groups]

    async with Cluster(3, topics={"t": 1}, settings=settings) as cluster:
        before = led()
        assert set(before) == {1, 2, 3}
        await cluster.stop(2)
        assert set(led()) == {1, 3}
        await cluster.start(2)
        assert led() == before
