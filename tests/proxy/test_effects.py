"""What rules do to messages, on a virtual clock: whole and byte by byte."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs.frames import Direction
from tests.proxy.playbook import (
    Chunks,
    Stage,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
    slicings,
)

HEARTBEAT: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}


def rule(do: str, match: str = "{api: Heartbeat, direction: request}", more: str = "") -> str:
    return f"version: 1\nseed: 7\nrules:\n  - name: r\n    match: {match}\n    do: {do}\n{more}"


def commit(number: int) -> bytes:
    return request("OffsetCommit", number, version=2, group_id="g", topics=[])


@slicings
def test_delay_keeps_order_and_runs_from_arrival(chunks: Chunks) -> None:
    stage = Stage(rule("{delay: 100ms}"))
    actor = stage.actor()
    actor.ask(heartbeat_request(1), chunks)
    stage.wait(30)
    actor.ask(heartbeat_request(2) + request("Metadata", 3), chunks)
    stage.wait(200)
    times = [(at, data) for at, data in actor.times["request"]]
    assert times == [
        (100.0, heartbeat_request(1)),
        (130.0, heartbeat_request(2)),
        (130.0, request("Metadata", 3)),
    ]
    assert [c["left"] for c in actor.cuts] == ["later"] * 3
    actor.answer(heartbeat_response(1))
    assert (actor.done[0].latency_ms, actor.done[0].broker_ms) == (230.0, 130.0)
    assert actor.done[0].rules == ("r",)


@slicings
def test_hold_steps_aside_until_the_other_message_has_passed(chunks: Chunks) -> None:
    do = "{hold: {until: {api: JoinGroup, direction: request, same: connection}, at_most: 5s}}"
    stage = Stage(rule(do, "{api: OffsetCommit, direction: request}"))
    actor = stage.actor()
    join = request("JoinGroup", 3, version=2, group_id="g")
    actor.ask(commit(1) + heartbeat_request(2), chunks)
    assert actor.ids("request") == [2]
    stage.wait(100)
    actor.ask(join, chunks)
    assert actor.ids("request") == [2, 3, 1]
    # the broker answers in the order it was asked in, the client is answered in its own
    actor.answer(heartbeat_response(2), chunks)
    actor.answer(response("JoinGroup", 3, version=2), chunks)
    assert actor.ids("response") == []
    actor.answer(response("OffsetCommit", 1, version=2, topics=[]), chunks)
    assert actor.ids("response") == [1, 2, 3]
    assert (stage.rules.rules[0].released, stage.rules.rules[0].expired) == (1, 0)
    assert actor.connection.idle


def test_hold_ends_at_its_time() -> None:
    stage = Stage(rule("{hold: {until: {api: JoinGroup}, at_most: 2s}}"))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.wait(3000)
    assert actor.times["request"] == [(2000.0, heartbeat_request(1))]
    assert stage.rules.rules[0].expired == 1


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
def test_hold_until_a_message_on_another_connection(
    same: str, group: str, client: str, released: bool
) -> None:
    until = f"{{api: JoinGroup, direction: request, same: {same}}}"
    stage = Stage(rule(f"{{hold: {{until: {until}, at_most: 9s}}}}"))
    one, other = stage.actor(), stage.actor()
    one.ask(heartbeat_request(1))
    other.ask(request("JoinGroup", 2, version=2, client=client, group_id=group))
    assert (one.ids("request") == [1]) is released


def test_what_is_held_leaves_when_the_client_sends_no_more() -> None:
    actor = Stage(rule("{hold: {until: {api: JoinGroup, same: connection}}}")).actor()
    actor.ask(heartbeat_request(1))
    actor.end("request")
    assert actor.ids("request") == [1]
    assert actor.finished == ["request"]


def test_swap_leaves_behind_the_next_and_responses_come_in_order() -> None:
    more = "    when: {times: 1}\n"
    actor = Stage(rule("{reorder: {swap: 2, at_most: 1s}}", more=more)).actor()
    actor.ask(b"".join(map(heartbeat_request, range(4))))
    assert actor.ids("request") == [1, 2, 0, 3]
    actor.answer(b"".join(map(heartbeat_response, (1, 2, 0, 3))))
    assert actor.ids("response") == [0, 1, 2, 3]


def test_swap_without_restoring_the_order_of_responses() -> None:
    more = "    when: {times: 1}\n"
    do = "{reorder: {swap: 1, at_most: 1s, restore: false}}"
    actor = Stage(rule(do, more=more)).actor()
    actor.ask(heartbeat_request(0) + heartbeat_request(1))
    actor.answer(heartbeat_response(1) + heartbeat_response(0))
    assert actor.ids("response") == [1, 0]


def test_shuffle_is_the_same_for_the_same_seed() -> None:
    orders = []
    for _ in range(2):
        actor = Stage(rule("{reorder: {shuffle: 8, at_most: 1s}}")).actor()
        actor.ask(b"".join(map(heartbeat_request, range(8))))
        orders.append(actor.ids("request"))
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == list(range(8)) != orders[0]


def test_a_window_that_does_not_fill_leaves_at_its_time() -> None:
    stage = Stage(rule("{reorder: {shuffle: 8, at_most: 500ms}}"))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2))
    stage.wait(600)
    assert sorted(actor.ids("request")) == [1, 2]
    assert actor.times["request"][0][0] == 500.0


@slicings
def test_drop_is_a_reply_that_never_comes_nor_anything_behind_it(chunks: Chunks) -> None:
    more = "    when: {times: 1}\n"
    actor = Stage(rule("drop", more=more)).actor()
    actor.ask(request("Metadata", 1) + heartbeat_request(2) + heartbeat_request(3), chunks)
    assert actor.ids("request") == [1]
    actor.answer(response("Metadata", 1), chunks)
    assert actor.ids("response") == [1]
    assert [(x.correlation_id, x.note) for x in actor.done if x.note] == [
        (2, "request dropped by a rule"),
        (3, "request lost behind a dropped one"),
    ]
    actor.end("request")
    assert actor.finished == ["request"]


@slicings
def test_a_dropped_response_takes_what_is_behind_it_along(chunks: Chunks) -> None:
    match = "{api: Heartbeat, direction: response}"
    actor = Stage(rule("drop", match)).actor()
    actor.ask(heartbeat_request(1) + request("Metadata", 2), chunks)
    actor.answer(heartbeat_response(1) + response("Metadata", 2), chunks)
    assert actor.sent["response"] == b""
    assert [x.note for x in actor.done] == [
        "response dropped by a rule",
        "response lost behind a dropped one",
    ]


@pytest.mark.parametrize("direction", ["request", "response"])
def test_a_selective_drop_takes_out_just_one_exchange(direction: Direction) -> None:
    match = f"{{api: Heartbeat, direction: {direction}}}"
    actor = Stage(rule("{drop: {selective: true}}", match, "    when: {times: 1}\n")).actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2))
    answers = {"request": (2,), "response": (1, 2)}[direction]
    actor.answer(b"".join(map(heartbeat_response, answers)))
    assert actor.ids("response") == [2]
    assert actor.connection.idle


@pytest.mark.parametrize(("do", "passed"), [("close", []), ("{close: {forward: true}}", [1])])
def test_close_before_or_behind_the_message(do: str, passed: list[int]) -> None:
    actor = Stage(rule(do)).actor()
    actor.ask(heartbeat_request(1))
    assert actor.aborted
    assert actor.ids("request") == passed


def test_two_rules_add_their_delays_and_name_themselves() -> None:
    second = "  - name: s\n    match: {api: Heartbeat}\n    do: {delay: 20ms}\n"
    stage = Stage(rule("{delay: 10ms}", more=second))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.wait(100)
    actor.answer(heartbeat_response(1))
    stage.wait(100)
    assert [at for at, _ in actor.times["request"]] == [30.0]
    assert [at for at, _ in actor.times["response"]] == [120.0]
    assert actor.done[0].rules == ("r", "s")
    assert actor.cuts[0] == {
        "frame": 0,
        "rules": ["r", "s"],
        "what": ["delay 10 ms", "delay 20 ms"],
        "left": "later",
    }


def test_a_condition_on_the_body() -> None:
    more = "    where: \"group_id == 'slow'\"\n"
    stage = Stage(rule("{delay: 10ms}", more=more))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    assert actor.ids("request") == [1]
    actor.ask(request("Heartbeat", 2, group_id="slow", generation_id=1, member_id="m"))
    assert actor.ids("request") == [1]
    stage.wait(10)
    assert actor.ids("request") == [1, 2]


def test_other_messages_are_not_read_because_of_a_rule() -> None:
    actor = Stage(rule("{delay: 10ms}"), observed=False).actor()
    first = request("ListGroups", 1, version=0)
    actor.ask(first)
    big = request("Produce", 2, version=3, acks=1, topic_data=[{"name": "t" * 30_000}])
    actor.ask(big[:1000])
    assert actor.sent["request"] == first + big[:1000]
