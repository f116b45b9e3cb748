"""What waits to leave, as a queue of its own."""

from __future__ import annotations

from barnabas.proxy.connection.send_queue import OVERHEAD, Held, Item, SendQueue, Window
from barnabas.proxy.effects import Aside


def item(ordinal: int, at: int = 0, size: int = 10) -> Item:
    return Item(bytes(size), ordinal, 0, at)


def held(ordinal: int, deadline: int, passing: int = 0) -> Held:
    return Held(item(ordinal), Aside(deadline), "r", deadline, passing)


def leave(outlet: SendQueue, now: int) -> list[int]:
    """Everything that leaves by now, in order."""
    found: list[int] = []
    while True:
        outlet.expire(now)
        one = outlet.next(now)
        if one is None:
            return found
        found.append(one.ordinal)
        outlet.passed()


def test_an_early_one_waits_behind_a_late_one() -> None:
    outlet = SendQueue()
    for one in (item(0, at=50), item(1), item(2, at=40)):
        outlet.append(one)
    assert (outlet.wake(), leave(outlet, 49)) == (50, [])
    assert leave(outlet, 50) == [0, 1, 2]
    assert outlet.idle


def test_what_stands_aside_is_passed_until_its_time() -> None:
    outlet = SendQueue()
    outlet.stand(held(0, 30))
    outlet.append(item(1))
    assert leave(outlet, 29) == [1]
    assert outlet.wake() == 30
    assert leave(outlet, 30) == [0]


def test_what_stands_aside_for_a_number_of_others_leaves_right_behind_them() -> None:
    outlet = SendQueue()
    outlet.stand(held(0, 99, passing=2))
    for number in (1, 2, 3):
        outlet.append(item(number))
    assert leave(outlet, 0) == [1, 2, 0, 3]


def test_those_that_are_released_together_keep_their_order() -> None:
    outlet = SendQueue()
    for number in (0, 1, 2):
        outlet.stand(held(number, 10))
    outlet.append(item(3, at=10))
    assert leave(outlet, 10) == [0, 1, 2, 3]


def test_a_full_window_leaves_in_its_order() -> None:
    outlet = SendQueue()
    for number in range(3):
        outlet.gather("r", Window((2, 0, 1), 99), item(number))
    assert leave(outlet, 0) == [2, 0, 1]


def test_windows_of_two_rules_do_not_mix() -> None:
    outlet = SendQueue()
    for number, rule in enumerate("abab"):
        outlet.gather(rule, Window((1, 0), 99), item(number))
    assert leave(outlet, 0) == [2, 0, 3, 1]


def test_a_window_that_did_not_fill_keeps_to_its_order_as_far_as_it_goes() -> None:
    outlet = SendQueue()
    for number in range(2):
        outlet.gather("r", Window((2, 1, 0), 20), item(number))
    assert outlet.wake() == 20
    assert leave(outlet, 20) == [1, 0]


def test_all_that_waits_is_counted_with_what_it_costs() -> None:
    outlet = SendQueue()
    outlet.append(item(0, size=100))
    outlet.stand(held(1, 5))
    outlet.gather("r", Window((0, 1), 5), item(2))
    assert outlet.bytes == 120 + 3 * OVERHEAD
    leave(outlet, 5)
    assert (outlet.bytes, outlet.idle) == (0, True)


def test_a_loss_takes_what_stands_aside_and_leaves_the_queue() -> None:
    outlet = SendQueue()
    assert not outlet.busy
    outlet.append(item(0, at=10))
    outlet.stand(held(1, 5))
    outlet.gather("r", Window((0, 1), 5), item(2))
    assert [one.ordinal for one in outlet.lose()] == [1, 2]
    assert outlet.bytes == item(0).cost
    assert leave(outlet, 10) == [0]
    assert outlet.busy, "nothing may follow"


def test_at_the_end_everything_is_taken_out() -> None:
    outlet = SendQueue()
    outlet.append(item(0, at=10))
    outlet.stand(held(1, 5))
    assert [one.ordinal for one in outlet.abandon()] == [0, 1]
    assert (outlet.bytes, outlet.idle, outlet.wake()) == (0, True, None)
