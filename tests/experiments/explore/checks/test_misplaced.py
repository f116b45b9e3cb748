from __future__ import annotations

from barnabas.experiments.explore.checks.misplaced import misplaced
from barnabas.experiments.explore.log import Log
from tests.experiments.explore.checks.told import T, acknowledged, consumed, found, log, sent


def test_another_record_is_at_the_offset_or_none() -> None:
    told = sent("a"), acknowledged("a", 0)
    assert found(misplaced, log("a"), *told) == []
    assert found(misplaced, log("b", "a"), *told) == [("misplaced", ("a",))]
    assert found(misplaced, log(), *told) == [("misplaced", ("a",))]


def test_what_consumers_were_given_is_compared_too() -> None:
    told = consumed("a", 0), consumed("b", 1)
    assert found(misplaced, log("a", "c"), *told) == [("misplaced", ("b",))]
    assert found(misplaced, log("a", "b", undone=[1]), *told) == []


def test_an_acknowledgement_may_name_no_offset_and_offsets_may_be_from_before() -> None:
    assert found(misplaced, log("b", "a"), sent("a"), acknowledged("a")) == []
    assert found(misplaced, Log(starts={(T, 0): 5}), consumed("a", 4)) == []
