"""The order of a campaign: everything once before anything often, from the newest and oldest versions on."""

from __future__ import annotations

import functools
from collections import Counter

from barnabas.fuzz.answering.seeds import seeds as answers
from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.corpus.corpus import generated
from barnabas.fuzz.engine.making import Maker
from barnabas.fuzz.engine.strata import DEEP, Strata
from barnabas.fuzz.frame_map.compressed import charts_of
from barnabas.fuzz.frame_map.depth import DEPTHS, MESSAGE, depth_of
from barnabas.fuzz.frame_map.fields import field_of, map_of
from barnabas.fuzz.mutators.lengths import LENGTHS
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.fuzz.sessions.registry import seeds
from barnabas.specs import keys

OFFERED = {keys.PRODUCE: (3, 9), keys.METADATA: (0, 12), keys.HEARTBEAT: (0, 4)}


@functools.cache
def corpus() -> tuple[Seed, ...]:
    return tuple(generated("m", OFFERED, "request", each=2))


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
    strata = Strata("s", corpus(), [LENGTHS])
    found: dict[tuple[object, ...], list[int]] = {}
    for number in range(len(strata)):
        (chart, _, part), _ = strata.turn(number, SeededRandom("t", number).upper())
        form = (chart.seed.key, field_of(part.path), part.coding, part.nullable)
        if not part.path.startswith("header."):
            found.setdefault(form, []).append(chart.seed.version)
    several = [versions for versions in found.values() if len(set(versions)) > 2]
    assert len(several) > 5
    for versions in several:
        assert versions[:2] == [max(versions), min(versions)]
        assert set(versions[: len(set(versions))]) == set(versions)


def test_the_ways_of_a_mutator_take_turns() -> None:
    """A length has 15 lies, and a field with many visits comes through all of them soon."""
    made = Maker("s", [seed for seed in corpus() if seed.key == keys.HEARTBEAT], [LENGTHS])
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
    made = Maker("s", [*behind, *plain], [LENGTHS])
    found: dict[str, set[str]] = {}
    for number in range(made.strata):
        recipe = made.case(number).recipe
        found.setdefault(field_of(recipe.changes[0].path), set()).add(recipe.session)
    assert len(found["group_id.length"]) >= 3


@functools.cache
def answered() -> tuple[Seed, ...]:
    """What a client gets, of which one API has records."""
    asked = [(keys.FETCH, version) for version in range(0, 13, 3)]
    asked += [(keys.METADATA, version) for version in range(0, 13, 3)]
    asked += [(keys.OFFSET_FETCH, version) for version in range(0, 9, 3)]
    return tuple(answers(asked))


def test_no_kind_of_part_below_a_batch_has_less_than_its_share() -> None:
    strata = Strata("s", answered(), MUTATORS)
    cases = len(strata)
    visits: Counter[tuple[str, str]] = Counter()
    versions: dict[tuple[str, str], set[int]] = {}
    for number in range(cases):
        (chart, _, part), _ = strata.turn(number, SeededRandom("t", number).upper())
        kind = depth_of(part.path), part.kind
        visits[kind] += 1
        versions.setdefault(kind, set()).add(chart.seed.version)
    deep = {kind: count for kind, count in visits.items() if kind[0] != MESSAGE}
    assert {depth for depth, _ in deep} == set(DEPTHS) - {MESSAGE}
    share = cases // DEEP // len(deep)
    assert share > 10
    assert min(deep.values()) >= share, min(deep, key=deep.__getitem__)
    assert sum(deep.values()) < cases * 3 / 4  # of three APIs, one of which is all about records
    there: dict[tuple[str, str], set[int]] = {}
    for chart in (chart for seed in answered() for chart in charts_of(map_of(seed))):
        for part in chart.parts:
            there.setdefault((depth_of(part.path), part.kind), set()).add(chart.seed.version)
    for kind in deep:
        assert len(versions[kind]) > len(there[kind]) / 2, kind
