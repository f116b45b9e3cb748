from __future__ import annotations

from collections import Counter

import pytest

from barnabas.designs.consumer_rewrite.peers.election import rank_for

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
