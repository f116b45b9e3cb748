from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.effects import Answer
from barnabas.proxy.faults.respond import Respond, respond
from barnabas.proxy.matching.message import Unable
from barnabas.proxy.scenario.file import ScenarioError
from barnabas.specs import api
from tests.proxy.faults.given import (
    ALL,
    Examples,
    Fate,
    Row,
    ask,
    beat,
    message,
    produce,
    slicings,
    stage,
)
from tests.proxy.playbook import Chunks, Stage, request, response

EXAMPLES = Examples(
    {"error": "NOT_COORDINATOR"},
    rows=[Row("{body: {throttle_time_ms: 5}}", Fate([2, 3], [2, 3]), Fate([2, 3], ALL))],
    live=["{error: 27}"],
    about=("Heartbeat", "request"),
)


@slicings
def test_the_proxy_answers_when_it_is_its_turn(chunks: Chunks) -> None:
    actor = stage("{respond: {error: REBALANCE_IN_PROGRESS}}", when="{skip: 1, times: 1}")
    actor.ask(ask(1) + ask(2) + ask(3), chunks)
    assert actor.sent["request"] == ask(1) + ask(3)
    assert actor.sent["response"] == b""
    actor.answer(beat(1), chunks)
    assert actor.sent["response"] == beat(1) + beat(2, 27)
    actor.answer(beat(3), chunks)
    assert actor.sent["response"] == beat(1) + beat(2, 27) + beat(3)
    (found,) = [x for x in actor.done if x.correlation_id == 2]
    assert (found.error, found.note, found.rules) == (
        "REBALANCE_IN_PROGRESS",
        "answered by the proxy",
        ("r",),
    )
    assert actor.connection.idle


@slicings
def test_the_answer_may_come_late(chunks: Chunks) -> None:
    actor = stage("[{delay: 100ms}, {respond: {error: 27}}]", when="{times: 1}")
    actor.ask(ask(1) + ask(2), chunks)
    actor.stage.wait(99)
    assert actor.sent["response"] == actor.sent["request"] == b""
    actor.stage.wait(1)
    assert actor.sent["response"] == beat(1, 27)
    assert actor.sent["request"] == ask(2)


HELD = "{hold: {until: {api: JoinGroup, direction: request, same: connection}, at_most: 5s}}"


@slicings
@pytest.mark.parametrize("restore", [True, False])
def test_a_request_that_is_held_is_answered_when_it_is_released(
    chunks: Chunks, restore: bool
) -> None:
    held = HELD if restore else HELD.replace("at_most", "restore: false, at_most")
    actor = stage(f"[{held}, {{respond: {{error: 27}}}}]")
    actor.ask(ask(1) + request("Metadata", 2), chunks)
    assert actor.ids("request") == [2]
    actor.answer(response("Metadata", 2), chunks)
    # the client's order, or as they come
    assert actor.ids("response") == ([] if restore else [2])
    actor.stage.wait(1000)
    assert actor.ids("response") == ([] if restore else [2])
    actor.ask(request("JoinGroup", 3, version=2, group_id="g"), chunks)
    assert actor.ids("request") == [2, 3]
    join = response("JoinGroup", 3, version=2)
    actor.answer(join, chunks)
    if restore:
        assert actor.sent["response"] == beat(1, 27) + response("Metadata", 2) + join
    else:  # it became the broker's turn behind what had left before
        assert actor.sent["response"] == response("Metadata", 2) + join + beat(1, 27)
    assert actor.stage.rules.rules[0].released == 1
    assert actor.connection.idle


def test_a_request_that_nothing_releases_is_answered_at_its_time() -> None:
    actor = stage(f"[{HELD}, {{respond: {{error: 27}}}}]")
    actor.ask(ask(1))
    actor.stage.wait(4999)
    assert actor.sent["response"] == b""
    actor.stage.wait(1)
    assert actor.sent["response"] == beat(1, 27)
    assert actor.sent["request"] == b""
    assert actor.stage.rules.rules[0].expired == 1


def test_a_request_that_the_proxy_answers_does_not_pass_what_waits_for_it() -> None:
    actor = Stage(
        "version: 1\nrules:\n"
        f"- {{name: held, match: {{api: Heartbeat, direction: request}}, do: {HELD}}}\n"
        "- {name: answered, match: {api: JoinGroup, direction: request}, do: {respond: {error: 27}}}\n"
    ).actor()
    actor.ask(ask(1) + request("JoinGroup", 2, version=2, group_id="g"))
    assert actor.sent["request"] == b""
    actor.stage.wait(5000)
    assert actor.sent["request"] == ask(1)
    assert actor.stage.rules.rule("held").expired == 1


def test_requests_that_are_reordered_are_answered_in_the_clients_order() -> None:
    actor = stage("[{reorder: {reverse: 2}}, {respond: {error: 27}}]")
    actor.ask(ask(1))
    assert actor.sent["response"] == b""
    actor.ask(ask(2))
    assert actor.sent["response"] == beat(1, 27) + beat(2, 27)


@pytest.mark.parametrize(
    ("beside", "waits_ms"),
    [("{coalesce: {count: 9, at_most: 70ms}}", 70), ("{throttle: {messages: 10}}", 100),
     ("{isolate: {lasts: 40ms, direction: request}}", 40)],
)  # fmt: skip
def test_what_lets_a_request_wait_lets_its_answer_wait(beside: str, waits_ms: int) -> None:
    actor = stage(f"[{beside}, {{respond: {{error: 27}}}}]")
    actor.ask(ask(1))
    actor.stage.wait(waits_ms - 1)
    assert actor.sent["response"] == b""
    actor.stage.wait(1)
    assert actor.sent["response"] == beat(1, 27)


def test_what_is_injected_beside_the_answer_leaves() -> None:
    actor = stage("[{inject: {api: Heartbeat, version: 1}}, {respond: {error: 27}}]")
    actor.ask(ask(1))
    (injected,) = actor.frames("request")
    assert injected[8:12] == (1).to_bytes(4)
    actor.answer(beat(1))
    assert actor.sent["response"] == beat(1, 27)


@slicings
def test_acks_0_is_taken_out_and_not_answered(chunks: Chunks) -> None:
    actor = stage("{respond: {error: 3}}", "{api: Produce, direction: request}")
    actor.ask(produce(1, acks=0) + produce(2) + ask(3), chunks)
    assert actor.sent["request"] == ask(3)
    (frame,) = actor.frames("response")
    assert frame[4:8] == b"\0\0\0\2"
    assert next(x.note for x in actor.done) == "taken out by a rule; no response (acks=0)"


def test_flexible_responses_have_their_header() -> None:
    actor = stage("{respond: {error: 27}}")
    actor.ask(request("Heartbeat", 1, version=4, group_id="g"))
    assert bytes(actor.sent["response"]) == bytes.fromhex("0000000c 00000001 00 00000000 001b 00")


@slicings
def test_a_response_is_replaced(chunks: Chunks) -> None:
    body = "{body: {error_code: 16, throttle_time_ms: 5}}"
    actor = stage(f"{{respond: {body}}}", "{api: Heartbeat, direction: response}")
    actor.ask(ask(1), chunks)
    actor.answer(beat(1), chunks)
    (found,) = actor.done
    assert found.response == {"error_code": 16, "throttle_time_ms": 5}


def test_values_may_be_set_beside_the_error() -> None:
    config = Respond.model_validate({"error": "not_coordinator", "set": {"throttle_time_ms": 9}})
    (effect,) = respond(config, message(version=1), float)
    assert isinstance(effect, Answer)
    found = api("Heartbeat").response.codec(1).decode(effect.body)
    assert found == {"throttle_time_ms": 9, "error_code": 16}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("{error: NOT_AN_ERROR}", "unknown Kafka error code"),
        ("{error: 99999}", "unknown Kafka error code"),
        ("{error: 3, body: {}}", "give body alone"),
    ],
)
def test_what_can_not_be_is_refused(settings: str, reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        stage(f"{{respond: {settings}}}")


def test_an_error_is_for_requests() -> None:
    config: Any = Respond.model_validate({"error": 3})
    with pytest.raises(Unable, match="match direction: request, or use edit"):
        respond(config, message(direction="response"), float)
