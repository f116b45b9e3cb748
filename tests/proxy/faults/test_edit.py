from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.effects import Become
from barnabas.proxy.faults.edit import Edit, edit
from barnabas.proxy.matching.message import Unable
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.scenario.file import ScenarioError
from barnabas.specs import api
from tests.proxy.faults.given import Examples, Row, ask, beat, message, produce, slicings, stage
from tests.proxy.playbook import Chunks, request, response

EXAMPLES = Examples(
    {"set": {"group_id": "other"}},
    rows=[Row("{set: {'PATH': NEW}}")],
    live=["{set: {throttle_time_ms: 5}}"],
    about=("Heartbeat", "response"),
)

JOIN: dict[str, Any] = {
    "group_id": "g",
    "protocol_type": "consumer",
    "protocols": [{"name": "range", "metadata": b"\1"}, {"name": "sticky", "metadata": b"\2"}],
}


def edited(settings: dict[str, Any], **body: Any) -> dict[str, Any]:
    subject = message("JoinGroup", "request", 5, **(body or JOIN))
    (effect,) = edit(Edit.model_validate(settings), subject, float)
    assert isinstance(effect, Become)
    return api("JoinGroup").request.codec(5).decode(effect.body)


def test_fields_are_set_at_every_place_of_a_path() -> None:
    assert edited({"set": {"protocols[*].name": "x"}})["protocols"] == [
        {"name": "x", "metadata": b"\1"},
        {"name": "x", "metadata": b"\2"},
    ]
    assert (
        edited({"set": {"protocols[-1].metadata": "/w=="}})["protocols"][1]["metadata"] == b"\xff"
    )
    assert edited({"set": {"group_instance_id": None, "session_timeout_ms": 7}}) == {
        **edited({"set": {"group_id": "g"}}),
        "session_timeout_ms": 7,
    }


def test_elements_are_appended_and_removed() -> None:
    added = edited({"append": {"protocols": {"name": "new"}}})["protocols"]
    assert added[2:] == [{"name": "new", "metadata": b""}]
    assert edited({"remove": ["protocols[0]"]})["protocols"] == [JOIN["protocols"][1]]
    assert edited({"remove": ["protocols[*]"]})["protocols"] == []
    assert edited({"remove": ["group_id"]})["group_id"] == ""  # the default


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (
            {"set": {"protocols[2].name": "x"}},
            r"protocols\[2\].name: no such field in this message",
        ),
        ({"set": {"nothing": 1}}, "nothing: no such field in this message"),
        ({"append": {"group_id": "x"}}, "group_id: no such array in this message"),
        ({"remove": ["protocols[9]"]}, "no such field in this message"),
        ({"set": {"group_id": None}}, "group_id: null is not allowed"),
        ({"set": {"session_timeout_ms": 2**40}}, "is no int32"),
        ({"set": {"protocols[0].metadata": "?"}}, "."),
    ],
)
def test_what_does_not_fit_is_said(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unable, match=reason):
        edited(settings)


@slicings
def test_the_other_side_sees_the_edited_message(chunks: Chunks) -> None:
    actor = stage("{edit: {set: {member_id: you}}}", when="{skip: 1, times: 1}")
    actor.ask(ask(1) + ask(2), chunks)
    body: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "you"}
    assert actor.sent["request"] == ask(1) + request("Heartbeat", 2, **body)
    actor.answer(beat(1) + beat(2), chunks)
    first, second = actor.done
    assert (first.request or {})["member_id"] == (second.request or {})["member_id"] == "m"
    assert second.rules == ("r",)
    (changed,) = [comment for comment in actor.cuts if "edits" in comment]
    assert changed["edits"] == ["edit member_id=you"]
    assert changed["left"] == "changed"


@slicings
def test_a_message_that_can_not_be_edited_passes_as_it_came_and_is_counted(chunks: Chunks) -> None:
    actor = stage("{edit: {set: {group_instance_id: i}}}")
    actor.ask(ask(1), chunks)
    assert actor.sent["request"] == ask(1)
    rule = actor.stage.rules.rule("r")
    assert (rule.fired, rule.unable) == (1, 1)
    assert "could not be done: edit: group_instance_id: no such field" in outcome(rule).what


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("{}", "give set, append or remove"),
        ("{set: {'a..b': 1}}", "'a..b' is no path"),
        ("{set: {membr_id: x}}", "no field 'membr_id' in the body of Heartbeat request"),
    ],
)
def test_a_path_that_can_not_be_is_refused_at_load(settings: str, reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        stage(f"{{edit: {settings}}}")


@slicings
def test_an_answer_that_the_client_does_not_wait_for_is_taken_out(chunks: Chunks) -> None:
    actor = stage("{edit: {set: {acks: 1}}}", "{api: Produce}")
    actor.ask(produce(1, acks=0) + ask(2), chunks)
    assert actor.sent["request"] == produce(1, acks=1) + ask(2)
    actor.answer(response("Produce", 1, version=7) + beat(2), chunks)
    assert actor.sent["response"] == beat(2)
    assert [(x.api, x.note) for x in actor.done] == [
        ("Produce", "no response (acks=0)"),
        ("Heartbeat", ""),
    ]
    assert actor.connection.idle
    assert not actor.connection.state.unwanted
    assert not actor.connection.state.reply_lost_by
    assert actor.stage.totals.undecoded == 0


@slicings
def test_nobody_is_waited_for_who_is_not_asked_any_more(chunks: Chunks) -> None:
    actor = stage("{edit: {set: {acks: 0}}}", "{api: Produce, direction: request}")
    actor.ask(produce(1, acks=1) + ask(2), chunks)
    actor.answer(beat(2), chunks)
    assert actor.sent["response"] == beat(2)
    assert actor.connection.idle
    assert actor.stage.totals.undecoded == 0
