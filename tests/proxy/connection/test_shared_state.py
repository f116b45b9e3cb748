"""Frames that wait for a message on another connection."""

from __future__ import annotations

import tracemalloc

import pytest

from barnabas.captures.kafka.context.memory import MOST
from barnabas.proxy.connection.connection import SEVERAL
from barnabas.proxy.connection.shared_state import SharedState
from tests.proxy.playbook import Actor, Stage, heartbeat_request, request, response


def held(direction: str, until: str, more: str = "") -> Stage:
    match = f"{{api: Heartbeat, direction: {direction}}}"
    hold = f"{{hold: {{until: {until}, at_most: 9s}}}}"
    return Stage(
        f"version: 1\nrules:\n  - {{name: r, match: {match}, do: {hold}}}\n{more}", observed=False
    )


def join(actor: Actor, group: str, number: int = 7) -> None:
    actor.ask(request("JoinGroup", number, version=2, group_id=group))
    actor.answer(response("JoinGroup", number, version=2))


@pytest.mark.parametrize("held_direction", ["request", "response"])
@pytest.mark.parametrize("awaited_direction", ["request", "response"])
@pytest.mark.parametrize(("group", "released"), [("g", True), ("h", False)])
def test_the_group_of_a_message_is_known_in_both_directions(
    held_direction: str, awaited_direction: str, group: str, released: bool
) -> None:
    stage = held(held_direction, f"{{api: JoinGroup, direction: {awaited_direction}, same: group}}")
    one, other = stage.actor(), stage.actor()
    for actor in (one, other):  # one exchange, so that what can be skimmed is
        actor.ask(request("ListGroups", 0, version=0))
        actor.answer(response("ListGroups", 0, version=0))
    one.ask(heartbeat_request(1))
    if held_direction == "response":
        one.answer(response("Heartbeat", 1))
    before = len(one.frames(held_direction))  # type: ignore[arg-type]
    join(other, group)
    after = len(one.frames(held_direction))  # type: ignore[arg-type]
    assert after - before == released


def test_one_message_releases_all_that_wait_for_it() -> None:
    stage = held("request", "{api: JoinGroup, direction: request, same: any}")
    waiting = [stage.actor() for _ in range(3)]
    for actor in waiting:
        actor.ask(heartbeat_request(1) + heartbeat_request(2))
        assert actor.ids("request") == []
    join(stage.actor(), "any")
    assert [actor.ids("request") for actor in waiting] == [[1, 2]] * 3
    assert stage.rules.rules[0].released == 6


def test_a_message_does_not_release_itself_but_the_next_one_of_its_kind_does() -> None:
    stage = held("request", "{api: Heartbeat, direction: request, same: any}")
    one, other = stage.actor(), stage.actor()
    one.ask(heartbeat_request(1))
    other.ask(heartbeat_request(2))
    assert one.ids("request") == other.ids("request") == []
    stage.wait(9000)  # the first one leaves at its time, and releases the second
    assert (one.ids("request"), other.ids("request")) == ([1], [2])


def test_a_connection_that_is_over_is_forgotten() -> None:
    stage = held("request", "{api: JoinGroup, direction: request, same: any}")
    gone, stays = stage.actor(), stage.actor()
    for actor in (gone, stays):
        actor.ask(heartbeat_request(1))
    gone.close()
    join(stays, "g")
    assert not stage.shared.ready
    assert gone.sent["request"] == b""
    assert stays.ids("request") == [7, 1]


def test_a_message_that_is_lost_releases_nobody() -> None:
    lost = "  - {name: lost, match: {api: JoinGroup, direction: request}, do: drop}\n"
    stage = held("request", "{api: JoinGroup, direction: request, same: any}", lost)
    one, other = stage.actor(), stage.actor()
    one.ask(heartbeat_request(1))
    other.ask(request("JoinGroup", 7, version=2, group_id="g"))
    assert one.ids("request") == []


def test_connections_of_a_client_to_a_broker_are_numbered() -> None:
    stage = Stage()
    ordinals = []
    for broker, client in ((1, "a"), (1, "a"), (2, "a"), (1, "b"), (1, "a")):
        actor = stage.actor(broker)
        actor.ask(request("Metadata", 1, client=client))
        ordinals.append(actor.connection.state.ordinal)
    assert ordinals == [0, 1, 0, 0, 2]


def test_a_window_of_a_connection_that_is_over_is_let_go() -> None:
    mix = "{reorder: {shuffle: 3, same: any, at_most: 1h}}"
    stage = Stage(
        f"version: 1\nrules:\n  - name: r\n    match: {{api: Heartbeat, direction: request}}\n    do: {mix}\n"
    )
    actor = stage.actor()
    actor.ask(request("Heartbeat", 1, group_id="g"))
    assert stage.shared.windows._filling
    actor.close()
    assert not stage.shared.windows._filling


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


def test_a_client_that_was_forgotten_begins_anew() -> None:
    shared = SharedState()
    assert [shared.ordinal("a", 1) for _ in range(3)] == [0, 1, 2]
    for number in range(MOST):
        shared.ordinal(str(number), 1)
    assert shared.ordinal("a", 1) == 0


def test_requests_of_several_clients_on_one_connection_are_few_at_a_time() -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(0) * SEVERAL)
    assert not actor.connection.full("request")
    actor = Stage().actor()
    for number in range(SEVERAL):
        assert not actor.connection.full("request")
        actor.ask(request("Heartbeat", number, client=f"client {number}", group_id="g"))
    assert actor.connection.full("request")
    actor.answer(response("Heartbeat", 0, error_code=0))
    assert not actor.connection.full("request")
