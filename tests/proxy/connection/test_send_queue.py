"""What waits to leave, as a queue of its own."""

from __future__ import annotations

from barnabas.proxy.connection.outgoing_frame import OVERHEAD, Delivery, OutgoingFrame
from barnabas.proxy.connection.send_queue import Held, SendQueue, Window
from barnabas.proxy.effects import Aside


def frame(ordinal: int, at: int = 0, size: int = 10) -> OutgoingFrame:
    return OutgoingFrame(bytes(size), ordinal, 0, delivery=Delivery(at))


def held(ordinal: int, deadline: int, passing: int = 0) -> Held:
    return Held(frame(ordinal), Aside(deadline), "r", deadline, passing)


def leave(queue: SendQueue, now: int) -> list[int]:
    """Everything that leaves by now, in order."""
    found: list[int] = []
    while True:
        queue.expire(now)
        one = queue.next(now)
        if one is None:
            return found
        found.append(one.ordinal)
        queue.passed()


def test_an_early_one_waits_behind_a_late_one() -> None:
    queue = SendQueue()
    for one in (frame(0, at=50), frame(1), frame(2, at=40)):
        queue.append(one)
    assert (queue.wake(), leave(queue, 49)) == (50, [])
    assert leave(queue, 50) == [0, 1, 2]
    assert queue.idle


def test_what_stands_aside_is_passed_until_its_time() -> None:
    queue = SendQueue()
    queue.set_aside(held(0, 30))
    queue.append(frame(1))
    assert leave(queue, 29) == [1]
    assert queue.wake() == 30
    assert leave(queue, 30) == [0]


def test_what_stands_aside_for_a_number_of_others_leaves_right_behind_them() -> None:
    queue = SendQueue()
    queue.set_aside(held(0, 99, passing=2))
    for number in (1, 2, 3):
        queue.append(frame(number))
    assert leave(queue, 0) == [1, 2, 0, 3]


def test_those_that_are_released_together_keep_their_order() -> None:
    queue = SendQueue()
    for number in (0, 1, 2):
        queue.set_aside(held(number, 10))
    queue.append(frame(3, at=10))
    assert leave(queue, 10) == [0, 1, 2, 3]


def test_a_full_window_leaves_in_its_order() -> None:
    queue = SendQueue()
    for number in range(3):
        queue.gather("r", Window((2, 0, 1), 99), frame(number))
    assert leave(queue, 0) == [2, 0, 1]


def test_windows_of_two_rules_do_not_mix() -> None:
    queue = SendQueue()
    for number, rule in enumerate("abab"):
        queue.gather(rule, Window((1, 0), 99), frame(number))
    assert leave(queue, 0) == [2, 0, 3, 1]


def test_a_window_that_did_not_fill_keeps_to_its_order_as_far_as_it_goes() -> None:
    queue = SendQueue()
    for number in range(2):
        queue.gather("r", Window((2, 1, 0), 20), frame(number))
    assert queue.wake() == 20
    assert leave(queue, 20) == [1, 0]


def test_all_that_waits_is_counted_with_what_it_costs() -> None:
    queue = SendQueue()
    queue.append(frame(0, size=100))
    queue.set_aside(held(1, 5))
    queue.gather("r", Window((0, 1), 5), frame(2))
    assert queue.bytes == 120 + 3 * OVERHEAD
    leave(queue, 5)
    assert (queue.bytes, queue.idle) == (0, True)


def test_a_loss_takes_what_stands_aside_and_leaves_the_queue() -> None:
    queue = SendQueue()
    assert not queue.busy
    queue.append(frame(0, at=10))
    queue.set_aside(held(1, 5))
    queue.gather("r", Window((0, 1), 5), frame(2))
    assert [one.ordinal for one in queue.lose()] == [1, 2]
    assert queue.bytes == frame(0).cost
    assert leave(queue, 10) == [0]
    assert queue.busy, "nothing may follow"


def test_at_the_end_everything_is_taken_out() -> None:
    queue = SendQueue()
    queue.append(frame(0, at=10))
    queue.set_aside(held(1, 5))
    assert [one.ordinal for one in queue.abandon()] == [0, 1]
    assert (queue.bytes, queue.idle, queue.wake()) == (0, True, None)
