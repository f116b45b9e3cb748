from __future__ import annotations

from barnabas.experiments.explore.checks.read_uncommitted import read_uncommitted
from tests.experiments.explore.checks.told import (
    CAREFUL,
    READER,
    aborted,
    committed,
    consumed,
    found,
    log,
    sent,
)

KIND = "read uncommitted"


def test_a_record_of_an_aborted_transaction() -> None:
    told = sent("a", "t"), consumed("a", 0)
    assert found(read_uncommitted, log("a", undone=[0]), CAREFUL, *told) == [(KIND, ("a",))]
    assert found(read_uncommitted, log("a", undone=[0]), READER, *told) == []
    assert found(read_uncommitted, log("a"), CAREFUL, *told) == []


def test_what_the_client_aborted_even_if_the_log_shows_it() -> None:
    told = CAREFUL, sent("a", "t"), aborted("t"), consumed("a", 0)
    assert found(read_uncommitted, log("a"), *told) == [(KIND, ("a",))]


def test_a_record_of_an_open_transaction() -> None:
    told = CAREFUL, sent("a", "t"), sent("b"), consumed("a", 0), consumed("b", 1)
    assert found(read_uncommitted, log("a", "b", undecided=[0, 1]), *told) == [(KIND, ("a",))]


def test_the_second_time_it_was_committed() -> None:
    told = CAREFUL, sent("a", "1"), aborted("1"), sent("a", "2"), committed("2")
    assert found(read_uncommitted, log("a", "a", undone=[0]), *told, consumed("a", 1)) == []
    assert found(read_uncommitted, log("a", "a", undone=[0]), *told, consumed("a", 0)) == [
        (KIND, ("a",))
    ]


def test_what_is_misplaced_is_found_elsewhere() -> None:
    told = CAREFUL, sent("a", "t"), consumed("a", 0)
    assert found(read_uncommitted, log("b", undone=[0]), *told) == []
