"""Every mutator: it changes something, keeps its promises, is deterministic, and bounded."""

from __future__ import annotations

import functools
import zlib

import crc32c
import pytest

from barnabas.fuzz.bench_broker.contexts.registry import context_at
from barnabas.fuzz.bench_broker.seeds import seeds as valid_responses
from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.corpus.sources import generated
from barnabas.fuzz.engine.strata import Place, places_of
from barnabas.fuzz.frame_map.fields import FieldMap, Part, map_of
from barnabas.fuzz.mutators.mutator import LARGEST, Mutated, Mutator
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.specs import keys

OFFERED = {
    keys.PRODUCE: (0, 13),
    keys.FETCH: (0, 18),
    keys.METADATA: (0, 13),
    keys.JOIN_GROUP: (0, 9),
    keys.CREATE_TOPICS: (2, 7),
    keys.API_VERSIONS: (0, 5),
    keys.DESCRIBE_TOPIC_PARTITIONS: (0, 0),
}

DELIVERY = {"repetition", "bursts", "disorder", "bytewise", "half_open", "unchanged"}
"""They leave the message as it is."""

LEFT = "unchanged"
"""What a detail says of a number that was not mended."""


@functools.cache
def charts() -> tuple[FieldMap, ...]:
    seeds: list[Seed] = generated("t", OFFERED, "request", each=2)
    seeds += generated("t", OFFERED, "response", each=2)
    seeds += [
        seed for seed in valid_responses([(keys.FETCH, 4)]) if context_at(seed.origin).visible
    ]
    return tuple(map_of(seed) for seed in seeds)


Done = tuple[FieldMap, Part, int, Mutated]


def some(mutator: Mutator, most: int = 100) -> list[Done]:
    """What it does at places that are spread over all messages: with the part and the draws."""
    places = [(chart, part) for chart, _, part in all_places(mutator)]
    step = max(len(places) // most, 1)
    picked = places[::step]
    picked *= max(most // max(len(picked), 1), 1)
    return [
        (chart, part, draws, mutator.apply(chart, part, SeededRandom("t", draws)))
        for draws, (chart, part) in enumerate(picked)
    ]


@functools.cache
def all_places(mutator: Mutator) -> list[Place]:
    return [place for chart in charts() for place in places_of(chart, [mutator])]


EACH = pytest.mark.parametrize("mutator", MUTATORS, ids=lambda mutator: mutator.name)


@EACH
def test_it_changes_something_says_what_and_is_bounded_and_deterministic(mutator: Mutator) -> None:
    done = some(mutator)
    assert done
    for number, (chart, part, draws, made) in enumerate(done):
        frame, (chunks, detail, delivery) = chart.seed.frame, made
        whole = len(frame).to_bytes(4) + frame
        where = (chart.seed.origin, part, detail)
        same = mutator.name == "unchanged"
        assert (chunks == (whole,)) is same or (mutator.name in DELIVERY and delivery != "whole"), (
            where
        )
        assert len(chunks) == 1 or mutator.name in DELIVERY, where
        assert 0 < len(detail) < 300, where
        assert detail.isprintable(), where
        assert sum(map(len, chunks)) <= 2 * len(frame) + LARGEST, where
        if mutator.name not in ("frame_size", "half_open") and LEFT not in detail:
            assert all(int.from_bytes(chunk[:4]) == len(chunk) - 4 for chunk in chunks), where
        if number % 2:
            assert mutator.apply(chart, part, SeededRandom("t", draws)) == made, where


@EACH
def test_what_stands_before_is_read_as_ever(mutator: Mutator) -> None:
    """With all lengths and counts mended, the careful reader comes as far as the field."""
    for chart, part, _, made in some(mutator):
        if mutator.name in DELIVERY or LEFT in made.detail or len(made.chunks[0]) > 5000:
            continue
        after = map_of(seed_of(chart.seed, made.chunks[0][4:]))
        before = [
            p.path
            for at, p in enumerate(chart.parts[: chart.parts.index(part)])
            if at and p.end <= part.start and at not in part.around
        ]
        # a record set is read as far as it is one
        before = [path for path in before if "records[" not in path]
        found = {p.path for p in after.parts}
        assert [path for path in before if path not in found] == [], (made.detail, part)


def seed_of(seed: Seed, frame: bytes) -> Seed:
    return Seed(seed.key, seed.version, seed.direction, frame, seed.origin)


@pytest.mark.parametrize(
    "name",
    ["limits", "deltas", "batch_fields", "beyond", "attributes", "counts", "nulls", "emptiness"],
)
def test_checksums_are_right_around_changes(name: str) -> None:
    """A reader that looks at the checksum first must come to what is wrong behind it."""
    mutator = next(mutator for mutator in MUTATORS if mutator.name == name)
    looked = 0
    for chart, changed, _, made in some(mutator, most=500):
        around = [chart.parts[index] for index in changed.around]
        crc = next((part for part in around if part.kind == "crc"), None)
        if crc is None or LEFT in made.detail:
            continue
        after = map_of(seed_of(chart.seed, made.chunks[0][4:]))
        mended = next((part for part in after.parts if part.path == crc.path), None)
        if mended is None:
            continue
        looked += 1
        covered = after.seed.frame[mended.end : mended.until]
        library = zlib.crc32 if mended.coding == "crc32" else crc32c.crc32c
        assert library(covered) == mended.value & 0xFFFFFFFF, made.detail
    assert looked


@functools.cache
def broken_charts() -> list[FieldMap]:
    """Maps of what mutations have left: they end early, or say what is not so."""
    found = []
    for mutator in MUTATORS[::3]:
        for chart, _, _, made in some(mutator, most=8):
            if len(made.chunks[0]) < 1000:
                found.append(map_of(seed_of(chart.seed, made.chunks[0][4:])))
    assert any(chart.cut for chart in found)
    return found


@EACH
def test_it_can_be_put_to_what_is_malformed_already(mutator: Mutator) -> None:
    for number, chart in enumerate(broken_charts()):
        for part in mutator.places(chart)[:3]:
            made = mutator.apply(chart, part, SeededRandom("broken", number))
            assert made.chunks
            assert made.detail
