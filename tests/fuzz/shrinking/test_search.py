"""Shrinking on virtual oracles: functions that say of a recipe whether it fires."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from barnabas import specs
from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.fuzz.shrinking.search import RUNS, shrink
from barnabas.fuzz.shrinking.step import opened
from tests.fuzz.observed import request


def seed(name: str, version: int, body: dict[str, Any]) -> Seed:
    key = specs.api(name).key
    return Seed(key, version, "request", request(key, version, body)[4:], "made")


def topics(*names: str) -> dict[str, Any]:
    return {"topics": [{"name": name} for name in names], "allow_auto_topic_creation": False}


METADATA = Recipe(
    seed("Metadata", 9, topics("a", "bb", "ccc", "dddd")),
    (Change("null", "topics[2].name", 123456), Change("flip", "", 99)),
    "join",
)


def body(recipe: Recipe) -> dict[str, Any]:
    frame = opened(recipe.seed)
    assert frame is not None
    return frame.body


def counted(fires: Callable[[Recipe], bool]) -> tuple[Callable[[Recipe], bool], list[Recipe]]:
    asked: list[Recipe] = []

    def ask(recipe: Recipe) -> bool:
        asked.append(recipe)
        return fires(recipe)

    return ask, asked


def nulled(recipe: Recipe) -> str | None:
    """The name of the topic that the mutation is put to."""
    for change in recipe.changes:
        if change.mutator == "null":
            path = change.path
            index = int(path[path.index("[") + 1 : path.index("]")])
            name: str = body(recipe)["topics"][index]["name"]
            return name
    return None


def test_all_that_the_bug_does_not_need_goes() -> None:
    small = shrink(METADATA, lambda recipe: nulled(recipe) is not None).recipe
    assert small.session == ""
    assert [change.mutator for change in small.changes] == ["null"]
    assert small.changes[0].path == "topics[0].name"
    assert small.changes[0].draws == 0
    assert len(body(small)["topics"]) == 1
    assert small.seed.version == 0


@pytest.mark.parametrize(
    ("needs", "kept"),
    [
        (lambda r: r.session == "join", lambda r: r.session == "join"),
        (lambda r: r.seed.version >= 4, lambda r: r.seed.version == 4),
        (lambda r: len(r.changes) == 2, lambda r: len(r.changes) == 2),
        (lambda r: len(body(r)["topics"]) >= 2, lambda r: len(body(r)["topics"]) == 2),
        (lambda r: any(c.draws == 99 for c in r.changes), lambda r: r.changes[0].draws == 99),
    ],
)
def test_what_the_bug_needs_stays(
    needs: Callable[[Recipe], bool], kept: Callable[[Recipe], bool]
) -> None:
    small = shrink(METADATA, needs).recipe
    assert needs(small)
    assert kept(small)


def test_what_has_more_bytes_is_not_smaller_unless_it_has_fewer_changes() -> None:
    def size(recipe: Recipe) -> int:
        """As of a mutator of which small draws repeat more."""
        return sum(1000 if one.draws < 8 else 10 for one in recipe.changes)

    one = METADATA._replace(changes=METADATA.changes[:1])
    kept = shrink(one, lambda recipe: bool(recipe.changes), size=size).recipe.changes
    assert [change.draws for change in kept] == [123456]
    fewer = shrink(METADATA, lambda recipe: nulled(recipe) is not None, size=size).recipe
    assert [change.draws for change in fewer.changes] == [123456]
    few = METADATA._replace(
        changes=(Change("null", "", 9), Change("null", "", 99), Change("flip", "", 1))
    )
    sizes = {3: 30, 2: 20, 1: 500, 0: 0}
    least = shrink(few, lambda recipe: bool(recipe.changes), size=lambda r: sizes[len(r.changes)])
    assert len(least.recipe.changes) == 1


def test_it_is_asked_no_more_often_than_allowed_and_never_twice_the_same() -> None:
    fires, asked = counted(lambda recipe: nulled(recipe) == "ccc")
    found = shrink(METADATA, fires)
    assert len(asked) == found.runs <= RUNS
    assert len(set(asked)) == len(asked)
    fires, asked = counted(lambda recipe: True)
    found = shrink(METADATA, fires, runs=2)
    assert (len(asked), found.runs) == (2, 2)
    assert found.recipe == asked[-1]


def test_a_seed_that_no_schema_reads_keeps_its_bytes() -> None:
    odd = Recipe(Seed(3, 9, "request", b"\xff", "x"), METADATA.changes, "join")
    small = shrink(odd, lambda recipe: True).recipe
    assert small.seed.frame == b"\xff"
    assert (small.session, small.changes) == ("", ())
