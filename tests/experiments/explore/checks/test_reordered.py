from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.experiments.explore.checks.reordered import reordered
from barnabas.experiments.explore.log import Log, Logged
from tests.experiments.explore.checks.told import T, aborted, found, log, sent


def test_the_one_that_is_behind_a_later_one_is_named() -> None:
    told = sent("a"), sent("b"), sent("c")
    assert found(reordered, log("b", "a", "c"), *told) == [("reordered", ("a",))]
    assert found(reordered, log("a", "c"), *told) == []


def test_a_repetition_is_no_other_order() -> None:
    assert found(reordered, log("a", "b", "a"), sent("a"), sent("b")) == []


def test_partitions_and_producers_have_orders_of_their_own() -> None:
    apart = Log([Logged(T, 0, 0, "b"), Logged(T, 1, 0, "a")])
    assert found(reordered, apart, sent("a"), sent("b")) == []
    told = sent("a", producer="one"), sent("b", producer="two")
    assert found(reordered, log("b", "a"), *told) == []


def test_what_was_aborted_was_not_sent() -> None:
    told = sent("a", "1"), aborted("1"), sent("b", "2"), sent("a", "2")
    assert found(reordered, log("a", "b", "a", undone=[0]), *told) == []


@given(st.permutations([f"{number}" for number in range(6)]))
def test_only_the_order_of_sending_has_none_behind_another(order: list[str]) -> None:
    ids = sorted(order)
    names = {name for _, ids in found(reordered, log(*order), *map(sent, ids)) for name in ids}
    # what is left without them is in order, and each of them is smaller than one before it
    assert [name for name in order if name not in names] == sorted(set(order) - names)
    assert all(any(other > name for other in order[: order.index(name)]) for name in names)
