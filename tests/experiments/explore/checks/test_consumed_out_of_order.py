from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.experiments.explore.checks.consumed_out_of_order import consumed_out_of_order
from tests.experiments.explore.checks.told import SHARING, assigned, consumed, found, log

KIND = "consumed out of order"


def test_an_offset_that_is_not_behind_the_one_before() -> None:
    told = consumed("a", 0), consumed("c", 2), consumed("b", 1)
    assert found(consumed_out_of_order, log(), *told) == [(KIND, ("b",))]
    assert found(consumed_out_of_order, log(), *told[:2], consumed("c", 2)) == [(KIND, ("c",))]


def test_who_is_assigned_anew_may_begin_anywhere() -> None:
    again = consumed("b", 1), assigned(), consumed("a", 0)
    assert found(consumed_out_of_order, log(), *again) == []
    elsewhere = consumed("b", 1), assigned(partition=1), assigned("d"), consumed("a", 0)
    assert found(consumed_out_of_order, log(), *elsewhere) == [(KIND, ("a",))]


def test_partitions_and_consumers_have_positions_of_their_own() -> None:
    told = consumed("b", 1), consumed("a", 0, partition=1), consumed("a", 0, "d")
    assert found(consumed_out_of_order, log(), *told) == []


@given(st.lists(st.integers(0, 20), unique=True))
def test_rising_offsets_are_in_order(offsets: list[int]) -> None:
    told = [consumed(str(offset), offset) for offset in sorted(offsets)]
    assert found(consumed_out_of_order, log(), *told) == []
    assert bool(found(consumed_out_of_order, log(), *reversed(told))) == (len(offsets) > 1)


def test_share_groups_promise_no_order() -> None:
    told = SHARING, consumed("b", 1, "s"), consumed("a", 0, "s")
    assert found(consumed_out_of_order, log(), *told) == []
