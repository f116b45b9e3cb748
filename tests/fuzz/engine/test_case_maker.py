"""Cases by their numbers: always the same, made again from their recipes, and everything has its turn."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace

import pytest

from barnabas.fuzz.bench_broker.contexts.registry import CONTEXTS
from barnabas.fuzz.bench_broker.seeds import seeds as answers
from barnabas.fuzz.cases.case import Change, Recipe, Seed, shape_of
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.corpus.sources import generated
from barnabas.fuzz.engine.case_maker import FIELDS, HOT, Maker, cook
from barnabas.fuzz.engine.energy import next_energies
from barnabas.fuzz.engine.stats import Field, cells
from barnabas.fuzz.engine.strata import DEEP, Strata
from barnabas.fuzz.frame_map.compressed import charts_of
from barnabas.fuzz.frame_map.depth import (
    CLASSES,
    DEPTHS,
    EMBEDDED,
    MESSAGE,
    class_of,
    depth_of,
)
from barnabas.fuzz.frame_map.fields import field_of, map_of
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.mutators.registry import MUTATORS, MUTATORS_BY_NAME
from barnabas.fuzz.sessions.live_values import filled
from barnabas.fuzz.sessions.registry import seeds
from barnabas.specs import keys

OFFERED = {keys.PRODUCE: (3, 9), keys.METADATA: (0, 12), keys.HEARTBEAT: (0, 4)}


@functools.cache
def corpus() -> tuple[Seed, ...]:
    return tuple(generated("m", OFFERED, "request", each=2))


@functools.cache
def maker() -> Maker:
    return Maker("s", corpus())


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
    results = Counter(made.case(number).recipe.seed.origin == hot for number in range(1000))
    assert 200 < results[True] < 320
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
    results = [seed for seed in corpus() if seed.key == keys.PRODUCE and seed.version == 9]
    seeds = [replace(seed, origin="session:txn") for seed in results]
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


def test_one_pass_puts_every_mutator_to_every_field_of_every_version() -> None:
    made = Maker("s", corpus())
    done = {
        (case.recipe.seed.key, case.recipe.seed.version, change.mutator, field_of(change.path))
        for case in map(made.case, range(made.strata))
        for change in case.recipe.changes[:1]
    }
    expected = {
        (seed.key, seed.version, mutator.name, field_of(part.path))
        for seed in corpus()
        for mutator in MUTATORS
        if mutator.per == "field"
        for part in mutator.places(map_of(seed))
    }
    missing = {one for one in expected - done if one[3] and not one[3].startswith("header.")}
    assert missing == set()
    # those of headers and frames are of any version

    def of_any_version(some: set[tuple[int, int, str, str]]) -> set[tuple[int, str, str]]:
        return {(key, mutator, field) for key, _, mutator, field in some}

    assert of_any_version(expected) - of_any_version(done) == set()


def test_the_newest_version_of_a_field_comes_first_then_the_oldest() -> None:
    strata = Strata("s", corpus(), [MUTATORS_BY_NAME["lengths"]])
    results: dict[tuple[object, ...], list[int]] = {}
    for number in range(len(strata)):
        (chart, _, part), _ = strata.turn(number, SeededRandom("t", number))
        form = (chart.seed.key, field_of(part.path), part.coding, part.nullable)
        if not part.path.startswith("header."):
            results.setdefault(form, []).append(chart.seed.version)
    several = [versions for versions in results.values() if len(set(versions)) > 2]
    assert len(several) > 5
    for versions in several:
        assert versions[:2] == [max(versions), min(versions)]
        assert set(versions[: len(set(versions))]) == set(versions)


def test_the_ways_of_a_mutator_take_turns() -> None:
    made = Maker(
        "s",
        [seed for seed in corpus() if seed.key == keys.HEARTBEAT],
        [MUTATORS_BY_NAME["lengths"]],
    )
    ways: dict[str, Counter[str]] = {}
    for number in range(4 * made.strata):
        change = made.case(number).recipe.changes[0]
        ways.setdefault(change.path, Counter())[change.detail.partition("(")[2]] += 1
    for path, found in ways.items():
        if sum(found.values()) >= 20:
            assert len(found) >= 10, path


def test_a_field_comes_behind_each_session_in_turn() -> None:
    behind = [seed for seed in seeds({}) if seed.key == keys.OFFSET_COMMIT and seed.version == 9]
    assert len({seed.origin.split(":")[1] for seed in behind}) >= 2
    plain = generated("m", {keys.OFFSET_COMMIT: (9, 9)}, "request", each=2)
    made = Maker("s", [*behind, *plain], [MUTATORS_BY_NAME["lengths"]])
    results: dict[str, set[str]] = {}
    for number in range(made.strata):
        recipe = made.case(number).recipe
        results.setdefault(field_of(recipe.changes[0].path), set()).add(recipe.session)
    assert len(results["group_id.length"]) >= 3


def test_each_shape_and_context_of_a_response_has_its_turn_early() -> None:
    versions = ((keys.FETCH, 12), (keys.METADATA, 9), (keys.METADATA, 12), (keys.JOIN_GROUP, 7))
    valid = answers(versions)
    cases = Maker("s", valid).cases(range(1500))
    turns = {(case.recipe.seed.key, shape_of(case.recipe.seed.origin)) for case in cases}
    assert turns >= {
        (seed.key, shape)
        for seed in valid
        if (shape := shape_of(seed.origin)) in {context.name for context in CONTEXTS}
    }


def test_sessions_of_older_versions_come_right_after_the_newest_version() -> None:
    offered = {keys.PRODUCE: (0, 13), keys.INIT_PRODUCER_ID: (0, 5)}
    offered |= {keys.TXN_OFFSET_COMMIT: (0, 5), keys.END_TXN: (0, 5)}
    produced = [seed for seed in seeds(offered) if seed.key == keys.PRODUCE]
    strata = Strata("s", produced, [MUTATORS_BY_NAME["counts"]])
    visits: dict[str, list[str]] = {}
    for number in range(len(strata)):
        (chart, _, part), _ = strata.turn(number, SeededRandom("t", number))
        if part.path == "topic_data.count":
            visits.setdefault(part.coding, []).append(chart.session)
    first, second, *_ = visits["uvarint+1"]
    assert not first.startswith("transaction-v1")
    assert second.startswith("transaction-v1")


@functools.cache
def answered() -> tuple[Seed, ...]:
    """What a client gets: of one API records, of another one the metadata of members."""
    requested = [(keys.FETCH, version) for version in range(0, 13, 3)]
    requested += [(keys.METADATA, version) for version in range(0, 13, 3)]
    requested += [(keys.OFFSET_FETCH, version) for version in range(0, 9, 3)]
    return (*answers(requested), *generated("m", {keys.JOIN_GROUP: (2, 5)}, "response"))


def parts_by_turn(strata: Strata) -> list[Part]:
    """Return the part of each turn of a pass."""
    return [strata.turn(number, SeededRandom("t", number))[0][2] for number in range(len(strata))]


def test_each_class_below_the_message_has_its_share_and_its_kinds_have_equal_ones() -> None:
    parts = [part for part in parts_by_turn(Strata("s", answered(), MUTATORS)) if part.path]
    below = [part for part in parts if depth_of(part.path) != MESSAGE]
    assert {depth_of(part.path) for part in below} == set(DEPTHS) - {MESSAGE}
    assert len(below) < len(parts) * 3 / 4  # of four APIs, one of which is all about records
    classes = Counter(class_of(part.path) for part in below)
    slots = Counter(CLASSES)
    for name in classes:
        assert classes[name] >= slots[name] * (len(parts) // DEEP // len(CLASSES)), name
        kinds = Counter(
            (depth_of(part.path), part.kind) for part in below if class_of(part.path) == name
        )
        share = slots[name] * len(parts) / DEEP / len(CLASSES) / len(kinds)
        assert min(kinds.values()) >= share * 0.8, min(kinds, key=kinds.__getitem__)


def test_counts_of_records_and_headers_have_more_than_one_case_in_eighty_each() -> None:
    parts = parts_by_turn(Strata("s", answered(), MUTATORS))
    for name in ("records.count", "headers.count"):
        number = sum(part.path.endswith(f".{name}") for part in parts)
        assert number > len(parts) / 80, name


def test_turns_of_classes_that_no_message_has_go_to_other_fields() -> None:
    members = generated("m", {keys.JOIN_GROUP: (2, 5)}, "response")
    parts = parts_by_turn(Strata("s", members, [MUTATORS_BY_NAME["limits"]]))
    assert {depth_of(part.path) for part in parts} == {MESSAGE, EMBEDDED}


def test_parts_below_the_message_are_of_most_versions() -> None:
    strata = Strata("s", answered(), MUTATORS)
    visited: dict[tuple[str, str], set[int]] = {}
    for number in range(len(strata)):
        (chart, _, part), _ = strata.turn(number, SeededRandom("t", number))
        visited.setdefault((depth_of(part.path), part.kind), set()).add(chart.seed.version)
    versions: dict[tuple[str, str], set[int]] = {}
    for chart in (chart for seed in answered() for chart in charts_of(map_of(seed))):
        for part in chart.parts:
            versions.setdefault((depth_of(part.path), part.kind), set()).add(chart.seed.version)
    for kind, known in versions.items():
        assert len(visited[kind]) > len(known) / 2, kind


@pytest.mark.parametrize("hot", [False, True])
def test_a_field_with_energy_has_every_second_of_these_cases_or_all(hot: bool) -> None:
    seeds = {corpus()[5].origin: 2} if hot else {}
    some = [Field("Metadata", 9, "topics[].name"), Field("Metadata", 9, "gone")]
    energies = next_energies({}, [], {some[0]: 1})
    made = Maker("s", corpus(), energies={**seeds, **energies})
    results = Counter(
        number for number in range(400) if next(cells(made.case(number).recipe)).place == some[0]
    )
    drawn = range(HOT - 1, 400, HOT * FIELDS if seeds else HOT)
    assert set(drawn) <= set(results)
    assert len(results) < len(drawn) + 20
    other = Maker("s", corpus(), energies={**seeds, **next_energies({}, [], {some[1]: 1})})
    assert other.cases(range(20)) == [other.case(number) for number in range(20)]
