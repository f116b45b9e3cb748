"""The tree of a message: what is changed is marked, what is far from it is counted."""

from __future__ import annotations

import pytest

from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.fuzz.engine.case_maker import Maker, cook
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.fuzz.mutators.registry import MUTATORS_BY_NAME
from barnabas.fuzz.report.message import place, tree
from tests.fuzz.frame_map.test_containers import message

METADATA = Seed(3, 1, "request", bytes.fromhex("0003 0001 00000007 0001 61 00000001 0002 6869"), "")


def test_the_whole_of_a_short_message() -> None:
    made = Change("counts", "topics.count", 1, "9 (two) instead of 1")
    assert list(tree(Recipe(METADATA, (made,)))) == [
        "Metadata v1 request",
        "  header",
        "    request_api_key: 3",
        "    request_api_version: 1",
        "    correlation_id: 7",
        "    client_id: 'a'",
        "> topics.count: 1  <-- counts: 9 (two) instead of 1",
        "  topics: 1 element",
        "    [0]",
        "      name: 'hi'",
    ]


def test_of_a_long_message_the_neighbourhood_is_shown_and_what_it_stands_in() -> None:
    topics = b"".join(b"\0\1" + bytes((65 + n % 26,)) for n in range(1000))
    frame = bytes.fromhex("0003 0001 00000007 0001 61 000003e8") + topics
    long = Seed(3, 1, "request", frame, "")
    lines = list(tree(Recipe(long, (Change("odd_text", "topics[500].name", 1, "x" * 900),))))
    assert len(lines) < 20
    (marked,) = [line for line in lines if line.startswith(">")]
    assert marked.lstrip("> ").startswith("name: 'G'  <-- odd_text: xxx")
    assert len(marked) < 200
    assert "  topics: 1000 elements" in lines
    left = [int(line.split()[1]) for line in lines if line.lstrip().startswith("... ")]
    # names, elements, and what stands before them
    assert len(lines) - len(left) - 1 + sum(left) == 5 + 1 + 2 * 1000
    assert not any(" 1 more line" in line for line in lines)


def test_what_is_packed_is_shown_below_the_message_with_what_it_stands_in() -> None:
    path = "topic_data[0].partition_data[0].records[0].unpacked.records[1].value"
    made = Recipe(message("gzip", 9).seed, (Change("emptiness", path, 1, "empty"),))
    lines = list(tree(made))
    unpacked = lines.index("  topic_data[0].partition_data[0].records[0].packed, unpacked")
    (marked,) = [at for at, line in enumerate(lines) if line.startswith("> ")]
    assert marked > unpacked
    assert any(line.strip().startswith("packed: ") for line in lines[:unpacked])
    assert "  topic_data: 1 element" in lines[:unpacked]
    chunk = cook(made, 0).chunks[0]
    inside = place(made, chunk)
    packed = next(part for part in map_of(made.seed).parts if part.kind == "packed")
    assert inside is not None
    assert inside.start == packed.start + 4
    assert len(chunk) - inside.end == len(made.seed.frame) - packed.end


@pytest.mark.parametrize("name", ["counts", "lengths", "nulls", "limits"])
def test_a_place_has_what_was_changed(name: str) -> None:
    corpus = [message("none", 9).seed, message("none", 3).seed, message("none", 0).seed, METADATA]
    made = Maker("s", corpus, [MUTATORS_BY_NAME[name]])
    looked = 0
    for case in made.cases(range(200)):
        (chunk,), valid = case.chunks, map_of(case.recipe.seed).framed
        if len(case.recipe.changes) > 1 or len(chunk) != len(valid):
            continue
        found = place(case.recipe, chunk)
        assert found is not None
        sums = [
            (part.start + 4, part.end + 4)
            for part in map_of(case.recipe.seed).parts
            if part.kind == "crc"
        ]
        marked = range(*found)
        differ = {at for at in range(len(valid)) if chunk[at] != valid[at]}
        assert differ & {*marked}
        assert not {at for at in differ - {*marked} if not any(a <= at < b for a, b in sums)}
        looked += 1
    assert looked > 5


def test_of_a_number_both_values_are_shown() -> None:
    found = cook(Recipe(METADATA, (Change("limits", "header.correlation_id", 3),)), 0)
    (line,) = (one for one in tree(found.recipe, found.chunks[0]) if "<--" in one)
    sent = int.from_bytes(found.chunks[0][8:12], signed=True)
    assert f"correlation_id: 7 -> {sent}  <-- limits" in line


def test_a_field_of_a_container_has_its_own_place() -> None:
    path = "topic_data[0].partition_data[0].records[0].gzip.members[0].mtime"
    made = Recipe(message("gzip", 9).seed, (Change("limits", path, 1, ""),))
    assert "  topic_data[0].partition_data[0].records[0].packed, in parts" in tree(made)
    chunk = cook(made, 0).chunks[0]
    found = place(made, chunk)
    assert found is not None
    valid = map_of(made.seed).framed
    packed = next(part for part in map_of(made.seed).parts if part.kind == "packed")
    assert found == (
        packed.start + 4 + 4,
        packed.start + 4 + 8,
    )  # RFC 1952: behind magic, method, flags
    assert chunk[found.start : found.end] != valid[found.start : found.end]
