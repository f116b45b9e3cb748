"""What a strategy promises; and what one costs that does not keep it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from barnabas.designs.brokers.listener import Log
from barnabas.designs.consumer_rewrite.peers.strategies import (
    STRATEGIES,
    BrokenPromise,
    Partition,
    assigned,
    by_range,
)
from barnabas.designs.consumer_rewrite.states import DOWN
from tests.designs.consumer_rewrite.peers.test_model import Group
from tests.designs.consumer_rewrite.peers.world import World
from tests.designs.group_machine import NAMES, PAUSES
from tests.designs.models import SETTINGS, explore

Lie = Callable[[dict[str, list[Partition]]], Any]
"""Makes of an assignment what a strategy with a bug would have given."""


def raising(owned: dict[str, list[Partition]]) -> Any:
    raise KeyError("some bug")


def twice(owned: dict[str, list[Partition]]) -> Any:
    every = [at for some in owned.values() for at in some]
    return {name: [*some, *every[:1]] for name, some in owned.items()}


def to_a_stranger(owned: dict[str, list[Partition]]) -> Any:
    return {**owned, "stranger": []}


def without_a_consumer(owned: dict[str, list[Partition]]) -> Any:
    return dict(list(owned.items())[1:])


def without_a_partition(owned: dict[str, list[Partition]]) -> Any:
    return {name: some[1:] for name, some in owned.items()}


def too_many(owned: dict[str, list[Partition]]) -> Any:
    return {name: [*some, ("t", 99)] for name, some in owned.items()}


def of_nobodys_topic(owned: dict[str, list[Partition]]) -> Any:
    return {name: [*some, ("other", 0)] for name, some in owned.items()}


def nothing(owned: dict[str, list[Partition]]) -> Any:
    return None


def no_partitions(owned: dict[str, list[Partition]]) -> Any:
    return {key: [["t", 0]] for key in owned}


LIES: Final[tuple[Lie, ...]] = (
    *(raising, twice, to_a_stranger, without_a_consumer, without_a_partition),
    *(too_many, of_nobodys_topic, nothing, no_partitions),
)
BY_NAME: Final = {one.__name__: one for one in LIES}
by_name = pytest.mark.parametrize("lie", LIES, ids=[one.__name__ for one in LIES])

CONSUMERS: Final = {"a": frozenset("t"), "b": frozenset("tu")}
TOPICS: Final = {"t": 3, "u": 1}


def test_what_a_strategy_does_to_what_it_is_given_changes_nothing() -> None:
    topics = dict(TOPICS)

    def emptying(consumers: Any, topics: Any) -> Any:
        owned = by_range(consumers, topics)
        consumers.clear()
        topics.clear()
        return owned

    owned = assigned(emptying, CONSUMERS, topics)
    assert topics == TOPICS
    assert sorted(at for some in owned.values() for at in some) == [
        *(("t", 0), ("t", 1), ("t", 2), ("u", 0))
    ]


def test_numbers_that_only_equal_a_partition_s_become_its_own() -> None:
    # both would be written down, and 1.0 could not be told to anybody
    given: Any = {"a": [("t", False), ("t", 1.0)], "b": [("t", 2), ("u", 0)]}
    owned = assigned(lambda consumers, topics: given, CONSUMERS, TOPICS)
    assert [type(number) for _, number in owned["a"]] == [int, int]


SUBSCRIBED = st.dictionaries(
    st.sampled_from("abcd"), st.frozensets(st.sampled_from("tuv"), min_size=1), min_size=1
)
NUMBERS = st.one_of(st.integers(-1, 4), st.none())
GIVEN = st.dictionaries(
    st.sampled_from("abcde"), st.lists(st.tuples(st.sampled_from("tuvw"), NUMBERS), max_size=6)
)


@given(consumers=SUBSCRIBED, counts=st.lists(st.integers(0, 3), min_size=3, max_size=3), told=GIVEN)
def test_whatever_a_strategy_gives_is_an_assignment_or_refused(
    consumers: dict[str, frozenset[str]], counts: list[int], told: Any
) -> None:
    topics = {
        topic: count
        for topic, count in zip("tuv", counts, strict=True)
        if any(topic in one for one in consumers.values())
    }
    every = sorted((topic, number) for topic in topics for number in range(topics[topic]))
    told_of = sorted((at for some in told.values() for at in some), key=repr)
    kept = (
        told.keys() == consumers.keys()
        and told_of == sorted(every, key=repr)
        and all(at[0] in consumers[name] for name, some in told.items() for at in some)
    )
    try:
        owned = assigned(lambda *_: told, consumers, topics)
    except BrokenPromise:
        assert not kept
    else:
        assert kept
        assert owned == {name: tuple(told[name]) for name in consumers}


@given(consumers=SUBSCRIBED, count=st.integers(0, 7), name=st.sampled_from(sorted(STRATEGIES)))
def test_those_there_are_keep_it(
    consumers: dict[str, frozenset[str]], count: int, name: str
) -> None:
    topics = {topic: count for topic in "tuv" if any(topic in one for one in consumers.values())}
    assigned(STRATEGIES[name], consumers, topics)


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


@by_name
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
