from __future__ import annotations

from barnabas.experiments.explore.checks.skipped import skipped
from barnabas.experiments.explore.history import History
from tests.experiments.explore.checks.told import (
    CAREFUL,
    FROM_THE_START,
    OTHER,
    READER,
    consumed,
    found,
    log,
    offset_committed,
)


def test_a_gap_between_what_was_read() -> None:
    told = READER, consumed("a", 0), consumed("c", 2)
    assert found(skipped, log("a", "b", "c", "d"), *told) == [("skipped", ("b",))]
    other = OTHER, consumed("b", 1, "d")
    assert found(skipped, log("a", "b", "c", "d"), *told, *other) == []


def test_a_commit_that_goes_further_than_was_read() -> None:
    told = READER, consumed("a", 0), offset_committed(2)
    assert found(skipped, log("a", "b", "c"), *told) == [("skipped", ("b",))]


def test_before_the_first_one_nothing_is_claimed_unless_it_was_to_read_from_the_start() -> None:
    told = FROM_THE_START, consumed("b", 1)
    assert found(skipped, log("a", "b", "c"), *told) == [("skipped", ("a",))]
    (finding,) = skipped(History(told), log("a", "b"))
    assert finding.text.endswith("orders[0], which it read from offset 0 on: a")
    # of a batch that none of its members came to see
    assert found(skipped, log("a", "b", "c"), FROM_THE_START, offset_committed(2)) == [
        ("skipped", ("a", "b"))
    ]
    assert found(skipped, log("a", "b"), FROM_THE_START) == []
    assert found(skipped, log("a", "b"), READER, consumed("b", 1)) == []
    assert found(skipped, log("a", "b"), READER, offset_committed(2)) == []


def test_a_group_goes_on_where_it_has_committed() -> None:
    told = READER, offset_committed(0), consumed("b", 1)
    assert found(skipped, log("a", "b", "c"), *told) == [("skipped", ("a",))]
    told = READER, offset_committed(1), consumed("b", 1)
    assert found(skipped, log("a", "b", "c"), *told) == []


def test_who_reads_committed_records_is_not_given_others() -> None:
    told = consumed("a", 0), consumed("c", 2)
    assert found(skipped, log("a", "b", "c", undone=[1]), CAREFUL, *told) == []
    assert found(skipped, log("a", "b", "c", undecided=[1]), CAREFUL, *told) == []
    assert found(skipped, log("a", "b", "c", undecided=[1]), READER, *told) == [("skipped", ("b",))]


def test_a_consumer_without_a_group_is_one_of_its_own() -> None:
    told = consumed("a", 0, "x"), consumed("b", 1, "y"), consumed("c", 2, "x")
    assert found(skipped, log("a", "b", "c"), *told) == [("skipped", ("b",))]
