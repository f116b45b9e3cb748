"""x"""
from __future__ import annotations
from tests.peers.consumer_rewrite.world import World

def test_one_then_two() -> None:
    world = World()
    world.add("a")
    print(world.until(world.settled))
    world.add("b")
    print(world.until(world.settled))
    print(world.summary())
    world.crash(world.coordinator())
    world.run(100)
    assert world.settled()
    world.add("c")
    print(world.until(world.settled))
    world.kill("a")
    print(world.until(world.settled))
    world.partition_count("t", 7)
    print(world.until(world.settled))
    print(world.summary())
