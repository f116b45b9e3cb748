"""Faults one after the other: each sees what the ones before it made of the message."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.rules.outcome import outcome
from barnabas.specs import api
from tests.proxy.faults.given import produce, requests, responses, stage
from tests.proxy.frames import Chunks, request, response, slicings
from tests.proxy.playbook import Actor, Stage

EDIT = "{edit: {set: {member_id: abc}}}"
CORRUPT = "{corrupt: {path: member_id, what: byte}}"
EDITED, CORRUPTED = "edit member_id=abc", "byte corrupt in member_id"
BAD = "{edit: {set: {group_instance_id: i}}}"
WHY = "edit could not be done: group_instance_id: no such field in this message"


def heartbeat(member: str, generation: int = 1) -> bytes:
    return request("Heartbeat", 1, group_id="g", generation_id=generation, member_id=member)


def member(actor: Actor) -> str:
    """Return the member id in the one request that left."""
    (frame,) = actor.frames("request")
    return str(api("Heartbeat").request.codec(1).decode(frame[4 + 8 + 4 :])["member_id"])


def comment(actor: Actor) -> dict[str, Any]:
    (found,) = [cut for cut in actor.cuts if "rules" in cut]
    return found


@slicings
def test_edit_then_corrupt_then_delay(chunks: Chunks) -> None:
    actor = stage(f"[{EDIT}, {CORRUPT}, {{delay: 100ms}}]")
    actor.ask(requests(1), chunks)
    actor.stage.wait(99)
    assert actor.sent["request"] == b""
    actor.stage.wait(1)
    found = member(actor)
    assert len(found) == 3
    assert sum(a != b for a, b in zip(found, "abc", strict=True)) == 1
    assert comment(actor)["what"] == [EDITED, CORRUPTED, "delay 100 ms"]
    assert comment(actor)["edits"] == [EDITED, CORRUPTED]


@slicings
@pytest.mark.parametrize(("do", "sent"), [
    ("duplicate", heartbeat("abc") * 2),
    ("{truncate: {keep: 27B}}", heartbeat("abc")[:27]),
    ("{slice: {size: 7B}}", heartbeat("abc")),
])  # fmt: skip
def test_what_repeats_cuts_off_or_slices_does_so_to_what_was_made_before(
    chunks: Chunks, do: str, sent: bytes
) -> None:
    actor = stage(f"[{EDIT}, {do}]")
    actor.ask(requests(1), chunks)
    actor.stage.wait(100)
    assert actor.sent["request"] == sent


def rules(*texts: str) -> Actor:
    listed = "".join(f"- {{name: {text}}}\n" for text in texts)
    return Stage(f"version: 1\nrules:\n{listed}").actor()


@slicings
@pytest.mark.parametrize(("seen", "fires"), [("abc", True), ("m", False)])
def test_the_next_rule_sees_what_the_one_before_it_made(
    chunks: Chunks, seen: str, fires: bool
) -> None:
    actor = rules(
        f"first, match: {{direction: request}}, do: {EDIT}",
        f"second, match: {{direction: request}}, where: \"member_id == '{seen}'\", "
        "do: {edit: {set: {generation_id: 9}}}",
    )
    actor.ask(requests(1), chunks)
    assert actor.sent["request"] == heartbeat("abc", 9 if fires else 1)
    assert comment(actor)["rules"] == (["first", "second"] if fires else ["first"])


@slicings
@pytest.mark.parametrize("last", [
    "drop", "close", "reset", "truncate", "blackhole", "{respond: {error: 27}}",
])  # fmt: skip
def test_behind_what_ends_a_message_no_other_rule_is_asked(chunks: Chunks, last: str) -> None:
    acts = (("first", EDIT), ("last", last), ("behind", "{delay: 1s}"))
    actor = rules(*(f"{name}, match: {{direction: request}}, do: {do}" for name, do in acts))
    actor.ask(requests(1), chunks)
    assert comment(actor)["rules"] == ["first", "last"]
    assert len(comment(actor)["what"]) == 2
    assert [rule.fired for rule in actor.stage.rules.rules] == [1, 1, 0]


@slicings
def test_an_answer_of_the_proxys_own_meets_the_rules_for_responses(chunks: Chunks) -> None:
    actor = rules(
        "answer, match: {direction: request}, do: {respond: {error: 27}}",
        "edit, match: {direction: response, error: 27}, do: {edit: {set: {throttle_time_ms: 5}}}",
    )
    actor.ask(requests(1), chunks)
    assert actor.frames("response") == [response("Heartbeat", 1, throttle_time_ms=5, error_code=27)]


@slicings
def test_what_can_not_be_encoded_leaves_as_it_came_and_the_other_faults_are_done(
    chunks: Chunks,
) -> None:
    actor = stage(f"[{BAD}, {{delay: 100ms}}]")
    actor.ask(requests(1) + produce(2), chunks)
    actor.stage.wait(99)
    assert actor.sent["request"] == b""
    actor.stage.wait(1)
    assert actor.sent["request"] == requests(1) + produce(2)
    # counted, said, and in the capture
    rule = actor.stage.rules.rule("r")
    assert (rule.fired, rule.unable) == (1, 1)
    assert "1 could not be done: edit: group_instance_id" in outcome(rule).what
    (said,) = actor.said
    assert said.startswith(f"connection 1 (me@client:1): rule 'r': {WHY}")
    assert said.endswith("; the message passes without it")
    what = comment(actor)["what"]
    assert what[0].startswith(WHY)
    assert what[1:] == ["delay 100 ms"]
    assert "edits" not in comment(actor)


def test_it_is_said_the_first_times_only() -> None:
    actor = stage(BAD)
    for number in range(20):
        actor.ask(requests(number))
        actor.answer(responses(number))
    assert len(actor.said) == 10
    assert actor.stage.rules.rule("r").unable == 20
