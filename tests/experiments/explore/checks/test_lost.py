from __future__ import annotations

from barnabas.experiments.explore.checks.lost import lost
from tests.experiments.explore.checks.told import (
    aborted,
    acknowledged,
    committed,
    failed,
    found,
    log,
    sent,
)


def test_what_was_acknowledged_must_be_there() -> None:
    told = sent("a"), sent("b"), sent("c"), acknowledged("a"), acknowledged("b")
    assert found(lost, log("a"), *told) == [("lost", ("b",))]
    assert found(lost, log("b", "a"), *told) == []


def test_what_nobody_promised_may_be_missing() -> None:
    assert found(lost, log(), sent("a"), sent("b"), failed("b")) == []


def test_a_transaction_promises_all_of_it_when_it_is_committed() -> None:
    told = sent("a", "t"), sent("b", "t"), acknowledged("a")
    assert found(lost, log(), *told) == []
    assert found(lost, log(), *told, aborted("t")) == []
    assert found(lost, log("a"), *told, committed("t")) == [("lost", ("b",))]


def test_a_record_of_an_aborted_transaction_is_not_there() -> None:
    told = sent("a", "t"), committed("t")
    assert found(lost, log("a", undone=[0]), *told) == [("lost", ("a",))]
    assert found(lost, log("a", undecided=[0]), *told) == []


def test_what_was_aborted_and_sent_again_is_promised_by_the_second_time() -> None:
    told = sent("a", "1"), aborted("1"), sent("a", "2"), committed("2")
    assert found(lost, log(), *told) == [("lost", ("a",))]
    assert found(lost, log("a", "a", undone=[0]), *told) == []
