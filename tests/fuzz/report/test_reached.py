from __future__ import annotations

from barnabas.fuzz.coverage.lines import Unit
from barnabas.fuzz.database.findings import Reached
from barnabas.fuzz.engine.stats import Cell, Field
from barnabas.fuzz.report.reached import shown, unseen

FOUND = {
    Unit("a", "f", False): Reached(0b1111, 0b1, 0b11),
    Unit("a", "f.read", True): Reached(0b11, 0b0, 0b1),
    Unit("a", "g.read", True): Reached(0b1, 0b0, 0b0),
    Unit("b", "h.read", True): Reached(0b1, 0b0, 0b0),
    Unit("c", "never", False): Reached(0b111, 0b0, 0b0),
}


def test_a_field_is_a_gap_in_versions_in_which_no_mutator_showed_anything() -> None:
    def cell(version: int, mutator: str, field: str = "topics[].name") -> Cell:
        return Cell("Fetch", version, field, mutator)

    coverage = {cell(4, "null"): 2, cell(5, "null"): 3, cell(5, "flip"): 1, cell(6, "null"): 1}
    coverage |= {cell(9, "null"): 9, cell(4, "trailing", ""): 1}
    as_valid = {cell(4, "null"): 2, cell(5, "null"): 3, cell(6, "null"): 1, cell(9, "null"): 8}
    as_valid |= {cell(4, "trailing", ""): 1}
    assert unseen(coverage, as_valid) == [
        ("Fetch", "topics[].name", "4, 6", 3),
        ("Fetch", "(frame)", "4", 1),
    ]
    assert unseen(coverage, {}) == []


def test_fields_that_showed_something_are_counted_and_so_are_those_that_were_given_more() -> None:
    cells = {Cell("Fetch", version, "a", "null"): 2 for version in range(4)}
    as_valid = {Cell("Fetch", version, "a", "null"): version for version in range(4)}
    given = {Field("Fetch", version, "a") for version in (1, 2)}
    assert dict(shown(cells, as_valid, given)) == {
        "fields of versions whose change showed something": "2 of 4",
        "of those with more cases since none had": "1 of 2",
    }
    assert len(shown(cells, as_valid, set())) == 1
    assert shown(cells, {}, set()) == ()
