"""Shrinking record sets, on virtual oracles."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.fuzz.shrinking.records import RECORDS
from barnabas.fuzz.shrinking.registry import STEPS
from barnabas.fuzz.shrinking.search import RUNS, shrink
from barnabas.specs.records import Batch, Record, build, read
from tests.fuzz.shrinking.test_search import body, seed

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
    found = shrink(recipe, has(lambda one: one.value == b"value-3"), steps=(RECORDS,))
    (batch,) = batches(found.recipe)
    assert batch.records() == (Record(batch.base_offset or 0, 1003, None, b"value-3"),)
    assert (batch.crc_ok, batch.count, batch.last_offset) == (True, 1, batch.base_offset)
    assert found.runs <= RUNS


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
    small = shrink(recipe, lambda one: len(one.changes) == 1, steps=(RECORDS,)).recipe
    (batch,) = batches(small)
    assert [(one.key, one.value) for one in batch] == [(b"key-2", None)]
    assert (batch.magic, batch.crc_ok, small.changes[0].path) == (1, True, f"{SET}[0].key.length")
