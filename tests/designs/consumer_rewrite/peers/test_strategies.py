"""What a strategy promises; and what one costs that does not keep it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from barnabas.designs.brokers.listener import Log
from barnabas.designs.consumer_rewrite.peers.strategies import (
    BrokenPromise,
    Partition,
    assigned,
    by_range,
)
from barnabas.designs.consumer_rewrite.states import DOWN
from tests.designs.consumer_rewrite.peers.test_model import Group
from tests.designs.consumer_rewrite.peers.world import World
from tests.designs.group_machine import NAMES, PAUSES, SETTINGS, explore

Lie = Callable[[dict[str, list[Partition]]], Any]
"""Makes of an assignment what a strategy with a bug would have given."""


def raising(owned: dict[str, list[Partition]]) -> Any:
    raise KeyError("some bug")


def twice(owned: dict[str, list[Partition]]) -> Any:
    every = [at for some in owned.values() for at in some]
    return {name: [*some, *every[:1]] for name, some in owned.items()}


def without_a_partition(owned: dict[str, list[Partition]]) -> Any:
    return {name: some[1:] for name, some in owned.items()}


def nothing(owned: dict[str, list[Partition]]) -> Any:
    return None


def no_partitions(owned: dict[str, list[Partition]]) -> Any:
    return {name: [["t", 0]] for name in owned}


LIES: Final[tuple[Lie, ...]] = (raising, twice, without_a_partition, nothing, no_partitions)
BY_NAME: Final = {one.__name__: one for one in LIES}

SUBSCRIBED = st.dictionaries(
    st.sampled_from("abcd"), st.frozensets(st.sampled_from("tuv"), min_size=1), min_size=1
)
NUMBERS = st.sampled_from((-1, 0, 1, 2, 3, 4, None, False, 1.0))
GIVEN = st.dictionaries(
    st.sampled_from("abcde"), st.lists(st.tuples(st.sampled_from("tuvw"), NUMBERS), max_size=6)
)


@example({"a": frozenset("t")}, [2, 0, 0], {"a": [("t", False), ("t", 1.0)]})
@example({"a": frozenset("u"), "b": frozenset("tu")}, [1, 1, 0], {"a": [("u", 0)], "b": [("t", 0)]})
@example({"a": frozenset("t"), "b": frozenset("tu")}, [1, 1, 0], {"a": [("u", 0)], "b": [("t", 0)]})
@given(consumers=SUBSCRIBED, counts=st.lists(st.integers(0, 3), min_size=3, max_size=3), told=GIVEN)
def test_whatever_a_strategy_gives_is_an_assignment_or_refused(
    consumers: dict[str, frozenset[str]], counts: list[int], told: Any
) -> None:
    topics = {
        topic: count
        for topic, count in zip("tuv", counts, strict=True)
        if any(topic in one for one in consumers.values())
    }
    every = [(topic, number) for topic in topics for number in range(topics[topic])]
    kept = (
        told.keys() == consumers.keys()
        and Counter(at for some in told.values() for at in some) == Counter(every)
        and all(at[0] in consumers[name] for name, some in told.items() for at in some)
    )

    def strategy(subscribed: Any, counted: Any) -> Any:
        subscribed.clear()
        counted.clear()
        return told

    try:
        owned = assigned(strategy, consumers, topics)
    except BrokenPromise:
        assert not kept
    else:
        assert kept
        assert owned == {name: tuple(told[name]) for name in consumers}
        # what only equals a partition's number could not be told to anybody
        assert all(type(number) is int for some in owned.values() for _, number in some)


class Liar:
    """The strategy `range`, which lies as often as it is told to."""

    def __init__(self) -> None:
        self.lies: list[Lie] = []
        self.told = 0

    def __call__(
        self, consumers: Sequence[tuple[str, frozenset[str]]], topics: Mapping[str, int]
    ) -> Any:
        owned = by_range(consumers, topics)
        if not self.lies:
            return owned
        self.told += 1
        return self.lies.pop()(owned)


def logged(world: World) -> list[str]:
    return [one.text for _, _, one in world.log if isinstance(one, Log)]


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_costs_one_rebalance_and_the_group_goes_on(lie: Lie) -> None:
    liar = Liar()
    world = World(strategies={"range": liar})
    a, b = world.add("a"), world.add("b")
    world.until(world.settled)
    generation = a.core.generation
    liar.lies = [lie]
    world.partition_count("t", 5)
    world.until(lambda: a.core.state == b.core.state == DOWN)
    assert a.core.failure == b.core.failure == "Unknown"
    (line,) = logged(world)
    assert line.startswith("g: strategy range: ")
    for name in "ab":
        world.restart(name)
    world.until(world.settled)
    assert a.core.generation > generation + 1  # the one that was refused was one, too
    assert len(a.partitions | b.partitions) == 5


class Lying(Group):
    """The same with a strategy that lies at times; who is refused is started again."""

    def __init__(self, last: str) -> None:
        super().__init__("grow")
        self.liar = Liar()
        self.last = BY_NAME[last]
        """A lie for when all is well again."""

    def world_of(self) -> World:
        """See `Group`."""
        world = World(brokers=3, topics={"t": 3}, strategies={"range": self.liar})
        world.starts_again = 20
        return world

    @rule(lie=st.sampled_from(LIES), name=NAMES, then=PAUSES)
    def lie(self, lie: Lie, name: str, then: int) -> None:
        """The next assignment is none; somebody who joins is the reason of it."""
        self.liar.lies = [lie]
        self.start_consumer(name, then)

    def teardown(self) -> None:
        """See `Group`."""
        self.liar.lies = []
        super().teardown()

    def end(self) -> None:
        """See `Group`. Before that, one lie to a group in which all is well."""
        world, told = self.world, self.liar.told
        world.add("z")
        world.until(world.settled)
        self.liar.lies = [self.last]
        world.partition_count("t", world.topics["t"] + 1)
        world.until(lambda: self.liar.told > told)
        world.until(world.settled)
        super().end()


@pytest.mark.parametrize("last", BY_NAME)
def test_group_whose_strategy_lies(last: str) -> None:
    explore(Lying, last, settings(SETTINGS, max_examples=3))
