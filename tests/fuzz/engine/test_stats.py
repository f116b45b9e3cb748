"""Stats of parts add up to the stats of all, in whatever order."""

from __future__ import annotations

import itertools

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.engine.running import judged
from barnabas.fuzz.engine.shards import rows_of, stats_of
from barnabas.fuzz.engine.stats import Aside, Judged, Stats
from tests.fuzz.fakes import RAISED, SEEDS, FakeMaker, FakeTarget


def part(first: int, end: int) -> Stats:
    cases = [FakeMaker("s").case(number) for number in range(first, end)]
    found = Stats()
    for case in cases:
        found.run(case)
    for one in judged(FakeTarget().run(cases), [RAISED]):
        found.add(one)
    return found


def aside(*numbers: int) -> Stats:
    found = Stats()
    for number in numbers:
        case = FakeMaker("s").case(number)
        recipe = Recipe(SEEDS[number % 2], case.recipe.changes[:0])
        seen = Observation(type(case)(number, recipe, case.chunks), facts=((SET_ASIDE, True),))
        found.add(Judged(seen, frozenset({"no feature"}), ()))
    return found


def test_what_was_set_aside_is_counted_by_kind_with_the_first_of_each() -> None:
    wanted = {
        ("Metadata", 0, ""): Aside(Recipe(SEEDS[0], ()), 2, 3),
        ("Metadata", 1, ""): Aside(Recipe(SEEDS[1], ()), 3, 1),
    }
    one, other = aside(4, 2), aside(6, 3)
    both = Stats()
    both.merge(other)
    both.merge(one)
    assert both.aside == wanted
    assert both.features == {}  # nobody has answered
    assert stats_of([*rows_of(one), *rows_of(other)]).aside == wanted


def blamed(number: int, *others: int) -> Stats:
    case = FakeMaker("s").case(number)
    facts = (("together", [*others, number]),) if others else ()
    found = Stats()
    seen = Observation(case, raised="KeyError: x", facts=facts)
    found.add(Judged(seen, frozenset(), tuple(RAISED.judge(seen))))
    return found


def test_a_case_that_showed_it_alone_is_kept_before_one_of_several_in_any_order() -> None:
    parts = blamed(3, 1, 2), blamed(7), blamed(9), blamed(8, 6)
    for order in itertools.permutations(parts):
        whole = stats_of(row for part in order for row in rows_of(part))
        (found,) = whole.findings.values()
        assert (found.case, found.count) == (7, 4)
