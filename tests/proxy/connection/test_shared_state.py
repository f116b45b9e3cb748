"""Frames that wait for a message on another connection."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from barnabas.captures.kafka.context.memory import MOST
from barnabas.proxy.connection.connection import MAX_WAITING_OF_SEVERAL
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.specs.frames import Direction
from tests.proxy.frames import (
    groups_request,
    groups_response,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
)
from tests.proxy.playbook import Stage, one_rule
from tests.proxy.scripts import play

DIRECTIONS: tuple[Direction, ...] = ("request", "response")


@pytest.mark.parametrize("held_direction", DIRECTIONS)
@pytest.mark.parametrize("awaited_direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("same", "group", "client", "released"),
    [
        ("connection", "g", "me", False),
        ("client", "g", "me", True),
        ("client", "g", "other", False),
        ("group", "g", "other", True),
        ("group", "h", "me", False),
        ("any", "h", "other", True),
    ],
)
def test_a_frame_is_held_until_a_message_on_another_connection(
    held_direction: Direction, awaited_direction: str, same: str, group: str, client: str, released: bool
) -> None:  # fmt: skip
    until = f"{{api: JoinGroup, direction: {awaited_direction}, same: {same}}}"
    hold = f"{{hold: {{until: {until}, at_most: 9s}}}}"
    heartbeats = f"{{api: Heartbeat, direction: {held_direction}}}"
    stage = Stage(one_rule(hold, heartbeats), observed=False)
    one, other = stage.actor(), stage.actor()
    for actor in (one, other):  # one exchange, so that what can be skimmed is
        actor.ask(groups_request(0))
        actor.answer(groups_response(0))
    one.ask(heartbeat_request(1))
    if held_direction == "response":
        one.answer(heartbeat_response(1))
    assert 1 not in one.ids(held_direction)
    other.ask(request("JoinGroup", 7, version=2, group_id=group, client=client))
    other.answer(response("JoinGroup", 7, version=2))
    assert (1 in one.ids(held_direction)) == released


def test_connections_of_a_client_to_a_broker_are_numbered() -> None:
    stage = Stage()
    ordinals = []
    for broker, client in ((1, "a"), (1, "a"), (2, "a"), (1, "b"), (1, "a")):
        actor = stage.actor(broker)
        actor.ask(request("Metadata", 1, client=client))
        ordinals.append(actor.connection.state.ordinal)
    assert ordinals == [0, 1, 0, 0, 2]


def test_what_is_kept_of_client_ids_is_bounded_whatever_their_number_and_length() -> None:
    shared = SharedState()
    tracemalloc.start()
    try:
        for number in range(2000):
            assert shared.ordinal(f"{number}".ljust(30_000), 1) == 0
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 2000 * 1000
    assert shared.ordinal("7".ljust(30_000), 1) == 1
    assert shared.ordinal("7".ljust(30_001), 1) == 0


@pytest.mark.parametrize(
    ("do", "script"),
    [
        ("hold: {until: {api: JoinGroup}, at_most: 1ms}", "ask 1; wait 1; sent 1; two.ask J2"),
        ("hold: {until: {api: JoinGroup, same: any}}", "ask 1; close; sent"),
        ("reorder: {reverse: 2, same: any}", "ask 1; two.ask 2; sent 1; two.sent 2"),
    ],
)
def test_nothing_is_kept_of_frames_that_waited(do: str, script: str) -> None:
    stage = Stage(one_rule(f"{{{do}}}"), observed=False)
    kept = []
    tracemalloc.start()
    try:
        for _ in range(2):
            for _ in range(100):
                play(stage, script)
                stage.actors.clear()
            gc.collect()
            kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert kept[1] - kept[0] < 100 * 400


def test_a_client_that_was_forgotten_begins_anew() -> None:
    shared = SharedState()
    assert [shared.ordinal("a", 1) for _ in range(3)] == [0, 1, 2]
    for number in range(MOST):
        shared.ordinal(str(number), 1)
    assert shared.ordinal("a", 1) == 0


def test_requests_of_several_clients_on_one_connection_are_few_at_a_time() -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(0) * MAX_WAITING_OF_SEVERAL)
    assert not actor.connection.full("request")
    actor = Stage().actor()
    for number in range(MAX_WAITING_OF_SEVERAL):
        assert not actor.connection.full("request")
        actor.ask(request("Heartbeat", number, client=f"client {number}", group_id="g"))
    assert actor.connection.full("request")
    actor.answer(response("Heartbeat", 0, error_code=0))
    assert not actor.connection.full("request")
