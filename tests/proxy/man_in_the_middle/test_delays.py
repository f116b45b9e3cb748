"""What goes wrong between a client and a broker, 13: delays and holds; and rules that act together.

Every fault by itself: tests/proxy/faults.
"""

from __future__ import annotations

import pytest

from tests.proxy.frames import (
    Chunks,
    commit_request,
    heartbeat_request,
    heartbeat_response,
    slicings,
)
from tests.proxy.playbook import Stage, one_rule, ruled


@slicings
def test_13_delays_keep_order_and_run_from_arrival(chunks: Chunks) -> None:
    """Frames delayed by 100 ms leave 100 ms after each came; what is behind waits no longer than they do."""
    actor = ruled("{delay: 100ms}")
    frames = [heartbeat_request(1), heartbeat_request(2), heartbeat_request(3), commit_request(4)]
    actor.ask(frames[0], chunks)
    actor.stage.wait(30)
    actor.ask(b"".join(frames[1:]), chunks)
    actor.stage.wait(200)
    assert actor.times["request"] == list(zip((100.0, 130.0, 130.0, 130.0), frames, strict=True))
    assert [cut["left"] for cut in actor.cuts] == ["later"] * 4
    actor.answer(heartbeat_response(1))
    assert (actor.done[0].latency_ms, actor.done[0].broker_ms) == (230.0, 130.0)
    assert actor.done[0].rules == ("r",)


@pytest.mark.parametrize("early", [1, 1_000, 1_000_000])
def test_13_nothing_leaves_early_though_a_timer_does_fire_early(early: int) -> None:
    """uvloop's timers may fire 1 ms early."""
    actor = ruled("{delay: 100ms}")
    actor.ask(heartbeat_request(1))
    wake = actor.connection.wake
    assert wake is not None
    for now, left in ((wake - early, []), (wake, [1])):
        assert actor.connection.wake == wake
        actor.perform(actor.connection.tick(now))
        assert actor.ids("request") == left


def test_two_rules_add_their_delays_and_name_themselves() -> None:
    second = "- {name: s, match: {api: Heartbeat}, do: {delay: 20ms}}\n"
    actor = Stage(one_rule("{delay: 10ms}") + second).actor()
    actor.ask(heartbeat_request(1))
    actor.stage.wait(100)
    actor.answer(heartbeat_response(1))
    actor.stage.wait(100)
    assert [at for at, _ in actor.times["request"] + actor.times["response"]] == [30.0, 120.0]
    (exchange,) = actor.done
    assert (exchange.rules, exchange.latency_ms, exchange.broker_ms) == (("r", "s"), 120.0, 70.0)
    both = {"rules": ["r", "s"], "what": ["delay 10 ms", "delay 20 ms"]}
    assert actor.cuts[0] == {"frame": 0, **both, "left": "later"}


def test_the_capture_has_the_rules_of_a_response_that_leaves_later() -> None:
    actor = ruled("{delay: 1ms}", "{api: Heartbeat, direction: response}")
    actor.ask(heartbeat_request(1))
    actor.answer(heartbeat_response(1))
    actor.stage.wait(1)
    assert actor.left == [("response", heartbeat_response(1), {"frame": 0, "rules": ["r"]})]


def test_what_could_not_be_done_is_said_ten_times() -> None:
    actor = ruled("{edit: {set: {group_instance_id: x}}}", "{api: Heartbeat, direction: request}")
    for number in range(12):
        actor.ask(heartbeat_request(number))
    assert len(actor.said) == 10
    assert actor.said[0].endswith("; the message passes without it")
    assert actor.stage.rules.rules[0].unable == 12
