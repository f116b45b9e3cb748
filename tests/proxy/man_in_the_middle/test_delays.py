"""What goes wrong between a client and a broker, 13: delays and holds."""

from __future__ import annotations

import pytest

from tests.proxy.playbook import Chunks, Stage, heartbeat_request, request, slicings


def commit(number: int) -> bytes:
    return request("OffsetCommit", number, version=2, group_id="g")


def scenario(do: str, match: str = "{api: Heartbeat, direction: request}") -> str:
    return f"version: 1\nrules:\n  - name: r\n    match: {match}\n    do: {do}\n"


@slicings
def test_13_delay_keeps_order_what_is_behind_waits(chunks: Chunks) -> None:
    actor = Stage(scenario("{delay: 50ms}")).actor()
    actor.ask(heartbeat_request(1) + commit(2), chunks)
    actor.stage.wait(49)
    assert actor.frames("request") == []
    actor.stage.wait(1)
    assert actor.ids("request") == [1, 2]


@slicings
def test_13_hold_steps_aside_what_is_behind_passes(chunks: Chunks) -> None:
    actor = Stage(scenario("{hold: {until: {api: JoinGroup}, at_most: 5s}}")).actor()
    actor.ask(heartbeat_request(1) + commit(2), chunks)
    assert actor.ids("request") == [2]
    actor.ask(request("JoinGroup", 3, group_id="g"), chunks)
    assert actor.ids("request") == [2, 3, 1]


@slicings
def test_13_delays_run_from_arrival(chunks: Chunks) -> None:
    """Two frames delayed by 100 ms leave 100 ms after each came, not 200."""
    actor = Stage(scenario("{delay: 100ms}")).actor()
    actor.ask(heartbeat_request(1), chunks)
    actor.stage.wait(30)
    actor.ask(heartbeat_request(2), chunks)
    actor.stage.wait(500)
    assert actor.times["request"] == [(100.0, heartbeat_request(1)), (130.0, heartbeat_request(2))]


@slicings
def test_13_a_delay_is_per_message_not_per_chunk(chunks: Chunks) -> None:
    actor = Stage(scenario("{delay: 100ms}")).actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2) + commit(3), chunks)
    actor.stage.wait(500)
    # those behind it in its chunk wait for it, not for 100 ms more
    assert {at for at, _ in actor.times["request"]} == {100.0}
    assert actor.ids("request") == [1, 2, 3]


@pytest.mark.parametrize("early", [1, 1_000, 1_000_000])
def test_13_nothing_leaves_early_though_a_timer_does_fire_early(early: int) -> None:
    """uvloop's timers may fire 1 ms early."""
    actor = Stage(scenario("{delay: 100ms}")).actor()
    actor.ask(heartbeat_request(1))
    wake = actor.connection.wake
    assert wake is not None
    actor.perform(actor.connection.tick(wake - early))
    assert actor.frames("request") == []
    assert actor.connection.wake == wake
    actor.perform(actor.connection.tick(wake))
    assert actor.frames("request") == [heartbeat_request(1)]
