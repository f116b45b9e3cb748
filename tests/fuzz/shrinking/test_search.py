"""Shrinking on virtual oracles: functions that say of a recipe whether it fires."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from barnabas import specs
from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.fuzz.sessions.partial_sessions import parts
from barnabas.fuzz.sessions.registry import seeds
from barnabas.fuzz.shrinking.edits import opened
from barnabas.fuzz.shrinking.fields import lower_values, smallest_values
from barnabas.fuzz.shrinking.recipes import fewer_session_steps, without_session
from barnabas.fuzz.shrinking.records import less_in_records
from barnabas.fuzz.shrinking.registry import STEPS
from barnabas.fuzz.shrinking.search import RUNS, shrink
from barnabas.specs.records import Batch, Record, build, read
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
    requested: list[Recipe] = []

    def ask(recipe: Recipe) -> bool:
        requested.append(recipe)
        return fires(recipe)

    return ask, requested


def nulled(recipe: Recipe) -> str | None:
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
    result = shrink(METADATA, fires)
    assert len(asked) == result.runs <= RUNS
    assert len(set(asked)) == len(asked)
    fires, asked = counted(lambda recipe: True)
    result = shrink(METADATA, fires, runs=2)
    assert (len(asked), result.runs) == (2, 2)
    assert result.recipe == asked[-1]


def test_a_seed_that_no_schema_reads_keeps_its_bytes() -> None:
    odd = Recipe(Seed(3, 9, "request", b"\xff", "x"), METADATA.changes, "join")
    small = shrink(odd, lambda recipe: True).recipe
    assert small.seed.frame == b"\xff"
    assert (small.session, small.changes) == ("", ())


SEED = next(one for one in seeds() if one.origin.startswith("session:transaction:"))


DEEP = Recipe(SEED, (), "transaction")


SHORTENING = (without_session, fewer_session_steps)


@pytest.mark.parametrize(
    ("needed", "left"),
    [
        ({"InitProducerId"}, "transaction without AddPartitionsToTxn, Metadata"),
        ({"Metadata", "AddPartitionsToTxn"}, "transaction without InitProducerId"),
        ({"Metadata", "InitProducerId", "AddPartitionsToTxn"}, "transaction"),
    ],
)
def test_the_steps_that_the_bug_needs_are_left(needed: set[str], left: str) -> None:
    def fires(recipe: Recipe) -> bool:
        return bool(recipe.session) and needed.isdisjoint(parts(recipe.session)[1])

    small = shrink(DEEP, fires, steps=SHORTENING).recipe
    assert small.session == left
    # the case that is made of it is behind the same steps
    assert cook(small, 0).recipe.session == left


FETCH = Recipe(
    seed("Fetch", 12, {"max_wait_ms": 1000, "min_bytes": -77, "rack_id": "a" * 64, "topics": []}),
    (Change("limits", "min_bytes", 1),),
)


def test_numbers_and_texts_become_as_low_as_the_bug_lets_them() -> None:
    def fires(recipe: Recipe) -> bool:
        result = body(recipe)
        return result["max_wait_ms"] >= 100 and len(result["rack_id"]) >= 3

    small = body(shrink(FETCH, fires, steps=(smallest_values, lower_values)).recipe)
    assert (small["max_wait_ms"], small["rack_id"]) == (125, "aaaa")
    assert small["min_bytes"] == -77  # a change is put to it


SET = "topic_data[0].partition_data[0].records"


def records(count: int, first: int = 0) -> list[Record]:
    return [
        Record(first + n, 1000 + n, b"key-%d" % n, b"value-%d" % n, (("h", b"x"),))
        for n in range(count)
    ]


def produce(data: bytes, *changes: Change) -> Recipe:
    message = {
        "transactional_id": None,
        "acks": -1,
        "timeout_ms": 1000,
        "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": data}]}],
    }
    return Recipe(seed("Produce", 8, message), changes)


def batches(recipe: Recipe) -> list[Batch]:
    topics = body(recipe)["topic_data"]
    if not topics or not topics[0]["partition_data"]:
        return []
    return list(read(topics[0]["partition_data"][0]["records"]))


def has(fits: Callable[[Record], bool]) -> Callable[[Recipe], bool]:
    return lambda recipe: any(fits(one) for batch in batches(recipe) for one in batch)


def test_one_record_is_left_with_what_the_bug_needs_of_it() -> None:
    recipe = produce(build(records(4)) + build(records(5, 4)))
    result = shrink(recipe, has(lambda one: one.value == b"value-3"), steps=(less_in_records,))
    (batch,) = batches(result.recipe)
    assert batch.records() == (Record(batch.base_offset or 0, 1003, None, b"value-3"),)
    assert (batch.crc_ok, batch.count, batch.last_offset) == (True, 1, batch.base_offset)
    assert result.runs <= RUNS


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_change_stays_with_its_record(compression: str) -> None:
    path = f"{SET}[1].records[2].value.length" if compression == "none" else f"{SET}[1].packed"
    change = Change("lengths" if compression == "none" else "noise", path, 3)
    recipe = produce(build(records(4)) + build(records(5, 4), compression=compression), change)

    def fires(one: Recipe) -> bool:
        assert all(each.path in map_of(one.seed).index for each in one.changes)
        return len(one.changes) == 1

    small = shrink(recipe, fires, steps=STEPS).recipe
    (batch,) = batches(small)
    if compression == "none":
        assert small.changes[0].path == f"{SET}[0].records[0].value.length"
        assert [(one.key, one.value) for one in batch] == [(None, b"value-2")]
    else:
        assert small.changes[0].path == f"{SET}[0].packed"
        assert [(one.key, one.value) for one in batch] == [(None, None)]


def test_messages_of_magic_1_are_batches_of_one() -> None:
    old = [one._replace(headers=()) for one in records(4)]
    recipe = produce(build(old, magic=1), Change("nulls", f"{SET}[2].key.length", 1))
    small = shrink(recipe, lambda one: len(one.changes) == 1, steps=(less_in_records,)).recipe
    (batch,) = batches(small)
    assert [(one.key, one.value) for one in batch] == [(b"key-2", None)]
    assert (batch.magic, batch.crc_ok, small.changes[0].path) == (1, True, f"{SET}[0].key.length")
