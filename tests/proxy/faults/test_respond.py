from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.effects import Answer
from barnabas.specs import api
from tests.proxy.faults.given import (
    ALL,
    Examples,
    Fate,
    Play,
    Row,
    effect_of,
    message,
    produce,
    requests,
    stage,
)
from tests.proxy.frames import Chunks, heartbeat_response, request, slicings
from tests.proxy.playbook import Stage

ERROR: dict[str, Any] = {"error": 3}
BODY: dict[str, Any] = {"body": {}}
REFUSED = "match direction: request, or use edit"
HELD = "{hold: {until: {api: JoinGroup, direction: request, same: connection}, at_most: 5s}}"
ANY_ORDER = HELD.replace("at_most", "restore: false, at_most")
ANSWERED = "{respond: {error: 27}}"
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
        ({"body": {"error_code": 2**20}}, message(), "is not a valid int16"),
    ],
    applies=[
        (ERROR, ("Heartbeat", "request", 1), True),
        (ERROR, ("Heartbeat", "response", 1), False),
        (ERROR, ("WriteTxnMarkers", "request", 1), True),
        (ERROR, ("Heartbeat", "request", 99), False),
        (ERROR, ("GetTelemetrySubscriptions", "response", 0), False),
        (BODY, ("Heartbeat", "response", 1), True),
        ({"set": {"error_code": 1}}, ("Heartbeat", "response", 1), True),
    ],
    says=[
        ({"body": {"a": 1}}, "field_values", ((("body",), "", {"a": 1}, False),)),
        (ERROR, "field_values", ()),
    ],
    plays=[
        Play("the proxy answers when it is its turn", "{error: REBALANCE_IN_PROGRESS}",
             "ask 1 2 3; sent 1 3; got; answer 1; got 1 2!27; answer 3; got 1 2!27 3; idle",
             when="{skip: 1, times: 1}"),
        Play("the answer may come late", f"[{{delay: 100ms}}, {ANSWERED}]",
             "ask 1 2; wait 99; sent; got; wait 1; got 1!27; sent 2", when="{times: 1}"),
        Play("a request that is held is answered when it is released, in the client's order",
             f"[{HELD}, {ANSWERED}]",
             "ask 1 Metadata2; sent Metadata2; answer Metadata2; got; wait 1000; got; "
             "ask JoinGroup3; sent Metadata2 JoinGroup3; answer JoinGroup3; "
             "got 1!27 Metadata2 JoinGroup3; released 1; idle"),
        # it became the broker's turn behind what had left before
        Play("or as they come", f"[{ANY_ORDER}, {ANSWERED}]",
             "ask 1 Metadata2; sent Metadata2; answer Metadata2; got Metadata2; wait 1000; got Metadata2; "
             "ask JoinGroup3; sent Metadata2 JoinGroup3; answer JoinGroup3; "
             "got Metadata2 JoinGroup3 1!27; released 1; idle"),
        Play("what is injected beside the answer leaves",
             f"[{{inject: {{api: Heartbeat, version: 1}}}}, {ANSWERED}]",
             "ask 1; order 1; answer 1; got 1!27"),
        Play("requests that are reordered are answered in the client's order",
             f"[{{reorder: {{reverse: 2}}}}, {ANSWERED}]", "ask 1; got; ask 2; got 1!27 2!27"),
        *(Play(f"what lets a request wait lets its answer wait: {beside}", f"[{beside}, {ANSWERED}]",
               f"ask 1; wait {ms - 1}; got; wait 1; sent; got 1!27; expired {int(beside == HELD)}")
          for beside, ms in ((HELD, 5000), ("{coalesce: {count: 9, at_most: 70ms}}", 70),
                             ("{throttle: {messages: 10}}", 100),
                             ("{isolate: {lasts: 40ms, direction: request}}", 40))),
    ],
)  # fmt: skip


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
