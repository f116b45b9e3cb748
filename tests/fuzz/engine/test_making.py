"""Cases by their numbers: always the same, made again from their recipes, and everything has its turn."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace

import pytest

from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.fuzz.corpus.corpus import generated
from barnabas.fuzz.engine.making import Maker, cook
from barnabas.fuzz.sessions.live import filled
from barnabas.specs import keys

OFFERED = {keys.PRODUCE: (3, 9), keys.METADATA: (0, 12), keys.HEARTBEAT: (0, 4)}


@functools.cache
def corpus() -> tuple[Seed, ...]:
    return tuple(generated("m", OFFERED, "request", each=2))


@functools.cache
def maker(seed: str = "s") -> Maker:
    return Maker(seed, corpus())


@pytest.mark.parametrize("hot", [False, True])
def test_cases_together_are_those_of_their_numbers(hot: bool) -> None:
    """In order, whatever their batch begins with: also those that energies choose, and second changes."""
    made = Maker("s", corpus(), energies={corpus()[5].origin: 50} if hot else None)
    alone = [made.case(number) for number in range(300)]
    assert any(len(case.recipe.changes) == 2 for case in alone)
    for first, end in ((0, 300), (0, 64), (7, 8), (63, 66), (130, 299), (50, 50)):
        assert made.cases(range(first, end)) == alone[first:end]


def test_a_recipe_makes_the_case_again_and_some_have_two_changes() -> None:
    sizes: Counter[int] = Counter()
    for number in range(500):
        case = maker().case(number)
        assert cook(case.recipe, number) == case
        sizes[len(case.recipe.changes)] += 1
    assert sizes[1] > sizes[2] > 0


def test_energies_have_one_case_in_four_begin_with_what_is_hot() -> None:
    hot = corpus()[5].origin
    made = Maker("s", corpus(), energies={hot: 10_000})
    found = Counter(made.case(number).recipe.seed.origin == hot for number in range(1000))
    assert 200 < found[True] < 320
    assert Maker("s", corpus(), energies={hot: 10_000}).case(11) == made.case(11)


def test_a_second_change_is_made_to_what_the_first_has_left() -> None:
    seed = next(seed for seed in corpus() if seed.key == keys.HEARTBEAT and seed.version == 1)
    first = Change("emptiness", "group_id", 1)
    second = Change("odd_text", "group_id", 5)
    both = cook(Recipe(seed, (first, second)), 1)
    alone = cook(Recipe(seed, (second,)), 1)
    assert both.chunks[0] == alone.chunks[0]


def test_sessions_fill_in_what_a_change_has_left_alone() -> None:
    """In the place where it is after the change, with the checksum of the batch behind it."""
    found = [seed for seed in corpus() if seed.key == keys.PRODUCE and seed.version == 9]
    seeds = [replace(seed, origin="session:txn") for seed in found]
    made = Maker("s", seeds)
    names: Counter[str] = Counter()
    for number in range(400):
        case = made.case(number)
        assert case.recipe.session == "txn"
        names.update(place.name for place in case.live)
        values = {"producer_id": 0x0102030405060708, "base_sequence": 0x11223344}
        chunks = filled(case, values, 77)
        for place in case.live:
            data = chunks[place.chunk][place.offset : place.offset + place.size]
            if place.name == "producer_id":
                assert data == bytes(range(1, 9))
            if place.name == "correlation_id":
                assert data == (77).to_bytes(4, "big")
        assert list(map(len, chunks)) == list(map(len, case.chunks))
    assert names["producer_id"] > 50
    assert names["crc"] > 50
    assert names["crc"] <= names["producer_id"]
