from __future__ import annotations

from barnabas.experiments.explore.checks.consumed_after_acceptance import (
    consumed_after_acceptance,
)
from barnabas.experiments.explore.history import Consumer
from tests.experiments.explore.checks.told import (
    SHARING,
    SHARING_TOO,
    accepted,
    consumed,
    found,
    log,
)

OF_ANOTHER_GROUP = Consumer(consumer="v", group="i", share=True)


def test_what_a_member_has_accepted_is_done_for_all_members() -> None:
    told = SHARING, SHARING_TOO, consumed("a", 0, "s"), accepted(0)
    expected = [("consumed after acceptance", ("a",))]
    for member in ("s", "u"):
        again = consumed("a", 0, member)
        assert found(consumed_after_acceptance, log("a"), *told, again) == expected


def test_what_is_not_accepted_may_come_again() -> None:
    told = SHARING, SHARING_TOO, consumed("a", 0, "s"), consumed("a", 0, "u"), accepted(0)
    assert found(consumed_after_acceptance, log("a"), *told) == []


def test_other_offsets_partitions_and_groups() -> None:
    told = SHARING, OF_ANOTHER_GROUP, consumed("a", 0, "s"), accepted(0), accepted(1, partition=1)
    others = consumed("b", 1, "s"), consumed("a", 0, "v")
    assert found(consumed_after_acceptance, log("a", "b"), *told, *others) == []
