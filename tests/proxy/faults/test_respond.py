from __future__ import annotations

import pytest

from barnabas.proxy.effects import Answer
from barnabas.specs import api
from tests.proxy.faults.given import (
    ALL,
    Examples,
    Fate,
    Row,
    effect_of,
    message,
    produce,
    requests,
    responses,
    stage,
)
from tests.proxy.playbook import (
    Chunks,
    Stage,
    heartbeat_response,
    request,
    response,
    slicings,
)

ERROR, BODY = {"error": 3}, {"body": {}}
REFUSED = "match direction: request, or use edit"
EXAMPLES = Examples(
    {"error": "NOT_COORDINATOR"},
    rows=[Row("{body: {throttle_time_ms: 5}}", Fate([2, 3], [2, 3]), Fate([2, 3], ALL))],
    live=["{error: 27}"],
    about=("Heartbeat", "request"),
    refused=[
        ("{error: NOT_AN_ERROR}", "unknown Kafka error code"),
        ("{error: 99999}", "unknown Kafka error code"),
        ("{error: 3, body: {}}", "give body alone"),
        ("{body: {nothing: 1}}", "nothing: no such field"),
    ],
    unable=[
        (ERROR, message(direction="response"), REFUSED),
        ({"set": {"throttle_time_ms": 1}}, message(), "throttle_time_ms: no such field in this message"),
        ({"body": {"error_code": 2**20}}, message(), "is no int16"),
    ],
    applies=[
        (ERROR, ("Heartbeat", "request", 1), True),
        (ERROR, ("Heartbeat", "response", 1), False),
        (ERROR, ("WriteTxnMarkers", "request", 1), True),
        (ERROR, ("GetTelemetrySubscriptions", "response", 0), False),
        (BODY, ("Heartbeat", "response", 1), True),
        ({"set": {"error_code": 1}}, ("Heartbeat", "response", 1), True),
    ],
    says=[
        ({"body": {"a": 1}}, "field_values", ((("body",), "", {"a": 1}, False),)),
        (ERROR, "field_values", ()),
    ],
)  # fmt: skip


@slicings
def test_the_proxy_answers_when_it_is_its_turn(chunks: Chunks) -> None:
    actor = stage("{respond: {error: REBALANCE_IN_PROGRESS}}", when="{skip: 1, times: 1}")
    own = heartbeat_response(2, 27)
    actor.ask(requests(1, 2, 3), chunks)
    assert (actor.sent["request"], actor.sent["response"]) == (requests(1, 3), b"")
    actor.answer(responses(1), chunks)
    assert actor.sent["response"] == responses(1) + own
    actor.answer(responses(3), chunks)
    assert actor.sent["response"] == responses(1) + own + responses(3)
    (found,) = [x for x in actor.done if x.correlation_id == 2]
    assert (found.error, found.rules) == ("REBALANCE_IN_PROGRESS", ("r",))
    assert found.note == "answered by the proxy"
    assert actor.connection.idle


@slicings
def test_the_answer_may_come_late(chunks: Chunks) -> None:
    actor = stage("[{delay: 100ms}, {respond: {error: 27}}]", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
    actor.stage.wait(99)
    assert actor.sent["response"] == actor.sent["request"] == b""
    actor.stage.wait(1)
    assert actor.sent["response"] == heartbeat_response(1, 27)
    assert actor.sent["request"] == requests(2)


HELD = "{hold: {until: {api: JoinGroup, direction: request, same: connection}, at_most: 5s}}"


@slicings
@pytest.mark.parametrize("restore", [True, False])
def test_a_request_that_is_held_is_answered_when_it_is_released(
    chunks: Chunks, restore: bool
) -> None:
    held = HELD if restore else HELD.replace("at_most", "restore: false, at_most")
    actor = stage(f"[{held}, {{respond: {{error: 27}}}}]")
    actor.ask(requests(1) + request("Metadata", 2), chunks)
    assert actor.ids("request") == [2]
    actor.answer(response("Metadata", 2), chunks)
    for ms in (0, 1000):  # the client's order, or as they come
        actor.stage.wait(ms)
        assert actor.ids("response") == ([] if restore else [2])
    actor.ask(request("JoinGroup", 3, version=2, group_id="g"), chunks)
    assert actor.ids("request") == [2, 3]
    actor.answer(response("JoinGroup", 3, version=2), chunks)
    # else it became the broker's turn behind what had left before
    assert actor.ids("response") == ([1, 2, 3] if restore else [2, 3, 1])
    assert heartbeat_response(1, 27) in actor.frames("response")
    assert actor.stage.rules.rules[0].released == 1
    assert actor.connection.idle


def test_a_request_that_the_proxy_answers_does_not_pass_what_waits_for_it() -> None:
    actor = Stage(
        "version: 1\nrules:\n"
        f"- {{name: held, match: {{api: Heartbeat, direction: request}}, do: {HELD}}}\n"
        "- {name: answered, match: {api: JoinGroup, direction: request}, do: {respond: {error: 27}}}\n"
    ).actor()
    actor.ask(requests(1) + request("JoinGroup", 2, version=2, group_id="g"))
    assert actor.sent["request"] == b""
    actor.stage.wait(5000)
    assert actor.sent["request"] == requests(1)
    assert actor.stage.rules.rule("held").expired == 1


def test_requests_that_are_reordered_are_answered_in_the_clients_order() -> None:
    actor = stage("[{reorder: {reverse: 2}}, {respond: {error: 27}}]")
    actor.ask(requests(1))
    assert actor.sent["response"] == b""
    actor.ask(requests(2))
    assert actor.sent["response"] == heartbeat_response(1, 27) + heartbeat_response(2, 27)


@pytest.mark.parametrize(
    ("beside", "waits_ms"),
    [(HELD, 5000), ("{coalesce: {count: 9, at_most: 70ms}}", 70), ("{throttle: {messages: 10}}", 100),
     ("{isolate: {lasts: 40ms, direction: request}}", 40)],
)  # fmt: skip
def test_what_lets_a_request_wait_lets_its_answer_wait(beside: str, waits_ms: int) -> None:
    actor = stage(f"[{beside}, {{respond: {{error: 27}}}}]")
    actor.ask(requests(1))
    actor.stage.wait(waits_ms - 1)
    assert actor.sent["response"] == b""
    actor.stage.wait(1)
    assert (actor.sent["request"], actor.sent["response"]) == (b"", heartbeat_response(1, 27))
    assert actor.stage.rules.rules[0].expired == (beside == HELD)


def test_what_is_injected_beside_the_answer_leaves() -> None:
    actor = stage("[{inject: {api: Heartbeat, version: 1}}, {respond: {error: 27}}]")
    actor.ask(requests(1))
    assert actor.ids("request") == [1]
    actor.answer(responses(1))
    assert actor.sent["response"] == heartbeat_response(1, 27)


@slicings
def test_acks_0_is_taken_out_and_not_answered(chunks: Chunks) -> None:
    actor = stage("{respond: {error: 3}}", "{api: Produce, direction: request}")
    actor.ask(produce(1, acks=0) + produce(2) + requests(3), chunks)
    assert actor.sent["request"] == requests(3)
    assert actor.ids("response") == [2]
    assert actor.done[0].note == "taken out by a rule; no response (acks=0)"


def test_flexible_responses_have_their_header() -> None:
    actor = stage("{respond: {error: 27}}")
    actor.ask(request("Heartbeat", 1, version=4, group_id="g"))
    assert bytes(actor.sent["response"]) == bytes.fromhex("0000000c 00000001 00 00000000 001b 00")


@slicings
@pytest.mark.parametrize(("settings", "throttle"), [
    ("body: {error_code: 16, throttle_time_ms: 5}", 5),
    ("body: {error_code: 16}", 0),
    ("set: {throttle_time_ms: 5}", 5),
])  # fmt: skip
def test_a_response_is_replaced_or_some_of_it(chunks: Chunks, settings: str, throttle: int) -> None:
    actor = stage(f"{{respond: {{{settings}}}}}", "{api: Heartbeat, direction: response}")
    actor.ask(requests(1), chunks)
    actor.answer(heartbeat_response(1, 16), chunks)
    (found,) = actor.done
    assert found.response == {"error_code": 16, "throttle_time_ms": throttle}


def test_values_may_be_set_beside_the_error() -> None:
    settings = {"error": "not_coordinator", "set": {"throttle_time_ms": 9}}
    effect = effect_of("respond", settings, message(version=1))
    assert isinstance(effect, Answer)
    found = api("Heartbeat").response.codec(1).decode(effect.body)
    assert found == {"throttle_time_ms": 9, "error_code": 16}
