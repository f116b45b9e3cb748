from __future__ import annotations

from typing import Any

import pytest

from proxy.effects import Answer
from proxy.faults.respond import Respond, respond
from proxy.message import Unable
from proxy.scenario import ScenarioError
from specs import api
from tests.proxy.faults.given import ask, beat, message, produce, slicings, stage
from tests.proxy.playbook import Chunks


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


@slicings
def test_acks_0_is_taken_out_and_not_answered(chunks: Chunks) -> None:
    actor = stage("{respond: {error: 3}}", "{api: Produce, direction: request}")
    actor.ask(produce(1, acks=0) + produce(2) + ask(3), chunks)
    assert actor.sent["request"] == ask(3)
    (frame,) = actor.frames("response")
    assert frame[4:8] == b"\0\0\0\2"
    assert next(x.note for x in actor.done) == "taken out by a rule; no response (acks=0)"


def test_flexible_responses_have_their_header() -> None:
    from tests.proxy.playbook import request

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
        ("{error: NOT_AN_ERROR}", "no error of Kafka's"),
        ("{error: 99999}", "no error of Kafka's"),
        ("{error: 3, body: {}}", "give body alone"),
    ],
)
def test_what_can_not_be_is_refused(settings: str, reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        stage(f"{{respond: {settings}}}")


def test_an_error_is_for_requests() -> None:
    config: Any = Respond.model_validate({"error": 3})
    with pytest.raises(Unable, match="match requests, or use edit"):
        respond(config, message(direction="response"), float)
