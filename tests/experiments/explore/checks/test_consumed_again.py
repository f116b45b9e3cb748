from __future__ import annotations

from barnabas.experiments.explore.checks.consumed_again import consumed_again
from barnabas.experiments.explore.history import History
from tests.experiments.explore.checks.told import (
    OTHER,
    READER,
    consumed,
    found,
    log,
    offset_committed,
)


def test_what_is_before_the_committed_offset_is_done() -> None:
    told = READER, OTHER, consumed("a", 0), offset_committed(1)
    again = consumed("a", 0, "d")
    assert found(consumed_again, log("a"), *told, again) == [("consumed again", ("a",))]
    assert found(consumed_again, log("a"), *told, consumed("b", 1, "d")) == []


def test_what_was_given_once_is_not_again_whenever_it_was_committed() -> None:
    told = READER, offset_committed(2), consumed("a", 0), consumed("b", 1)
    assert found(consumed_again, log("a", "b"), *told) == []


def test_it_says_what_was_compared() -> None:
    told = READER, consumed("a", 0), consumed("b", 1), offset_committed(2)
    (finding,) = consumed_again(History((*told, consumed("b", 1))), log("a", "b"))
    assert finding.text == (
        "1 delivered to g from orders[0] again although a later offset was committed (the first: "
        "offset 1, committed 2): b"
    )


def test_what_was_not_committed_may_come_again() -> None:
    told = READER, OTHER, consumed("a", 0), consumed("a", 0, "d"), offset_committed(1)
    assert found(consumed_again, log("a"), *told) == []


def test_other_groups_partitions_and_consumers_without_a_group() -> None:
    told = READER, offset_committed(1, "h"), offset_committed(1, partition=1), consumed("a", 0)
    assert found(consumed_again, log("a"), *told) == []
    assert found(consumed_again, log("a"), offset_committed(1), consumed("a", 0, "nobody")) == []
