from __future__ import annotations

from barnabas.experiments.explore.checks.failed_yet_written import failed_yet_written
from tests.experiments.explore.checks.told import (
    aborted,
    acknowledged,
    committed,
    failed,
    found,
    log,
    sent,
)

KIND = "failed yet written"


def test_what_failed_must_not_be_there() -> None:
    told = sent("a"), sent("b"), failed("a")
    assert found(failed_yet_written, log("a", "b"), *told) == [(KIND, ("a",))]
    assert found(failed_yet_written, log("b"), *told) == []


def test_what_was_aborted_must_not_be_visible() -> None:
    told = sent("a", "t"), aborted("t")
    assert found(failed_yet_written, log("a"), *told) == [(KIND, ("a",))]
    assert found(failed_yet_written, log("a", undone=[0]), *told) == []
    assert found(failed_yet_written, log("a", undecided=[0]), *told) == []


def test_what_was_promised_another_time_may_be_there() -> None:
    again = sent("a"), failed("a"), sent("a"), acknowledged("a")
    assert found(failed_yet_written, log("a"), *again) == []
    again = sent("a", "1"), aborted("1"), sent("a", "2"), committed("2")  # type: ignore[assignment]
    assert found(failed_yet_written, log("a"), *again) == []
