from __future__ import annotations

from barnabas.experiments.explore.checks.duplicated import duplicated
from tests.experiments.explore.checks.told import found, log, sent


def test_twice_is_once_too_often() -> None:
    told = sent("a"), sent("b")
    assert found(duplicated, log("a", "b", "a", "a"), *told) == [("duplicated", ("a",))]
    assert found(duplicated, log("a", "b"), *told) == []


def test_what_was_sent_again_by_the_program_itself_counts_too() -> None:
    assert found(duplicated, log("a", "a"), sent("a"), sent("a")) == [("duplicated", ("a",))]


def test_aborted_ones_and_those_of_others_do_not_count() -> None:
    assert found(duplicated, log("a", "a", "x", "x", undone=[0]), sent("a")) == []
