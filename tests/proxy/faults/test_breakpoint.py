from __future__ import annotations

import pytest

from barnabas.proxy.effects import Halt
from barnabas.proxy.faults.breakpoint import Breakpoint, breakpoint  # noqa: A004
from barnabas.proxy.rules.outcome import outcome
from tests.proxy.faults.given import Examples, Row, ask, beat, halted, only, slicings, stage
from tests.proxy.playbook import Chunks

EXAMPLES = Examples({}, rows=[Row("2s")], live=["3ms"])

S = 1_000_000_000
RESPONSES = "{api: Heartbeat, direction: response}"


def test_it_waits_for_five_minutes_unless_told() -> None:
    assert only(breakpoint, Breakpoint(), float) == Halt(300 * S)
    assert only(breakpoint, Breakpoint.model_validate({"at_most": "2s"}), float) == Halt(2 * S)


@slicings
def test_what_is_behind_it_waits_until_its_time_is_up(chunks: Chunks) -> None:
    actor = stage("{breakpoint: 2s}", when="{times: 1}")
    actor.ask(ask(1) + ask(2), chunks)
    actor.stage.wait(1999)
    assert actor.ids("request") == []
    actor.stage.wait(1)
    assert actor.ids("request") == [1, 2]
    rule = actor.stage.rules.rule("r")
    assert (rule.fired, rule.released, rule.expired) == (1, 0, 1)
    assert halted(actor) == []


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_when_the_client_has_gone_it_leaves(chunks: Chunks, direction: str) -> None:
    actor = stage("breakpoint", f"{{direction: {direction}}}")
    actor.ask(ask(1), chunks)
    if direction == "response":
        actor.answer(beat(1), chunks)
    assert len(halted(actor)) == 1
    actor.end("request")
    assert halted(actor) == []
    assert actor.ids("request") == [1]
    rule = actor.stage.rules.rule("r")
    assert (rule.released, rule.expired, rule.ended) == (0, 0, 1)
    assert outcome(rule).what == "breakpoint, 1 left when the connection ended"


@slicings
def test_when_the_broker_has_gone_a_request_leaves_and_a_response_waits_on(chunks: Chunks) -> None:
    actor = stage("breakpoint", "{api: Heartbeat}")
    actor.ask(ask(1), chunks)
    actor.stage.decide("1.1")
    actor.answer(beat(1), chunks)
    actor.ask(ask(2), chunks)
    actor.end("response")
    assert [one.id for one in halted(actor)] == ["1.2"]
    assert actor.ids("request") == [1, 2]


@slicings
def test_when_its_rule_is_gone_or_lets_go_it_leaves(chunks: Chunks) -> None:
    for_rule = stage("breakpoint", RESPONSES)
    for_rule.ask(ask(1) + ask(2), chunks)
    for_rule.answer(beat(1) + beat(2), chunks)
    for_rule.stage.release("other")
    assert for_rule.ids("response") == []
    for_rule.stage.release("r")
    assert for_rule.ids("response") == [1, 2]
    assert for_rule.stage.rules.rule("r").released == 2
    gone = stage("breakpoint")
    gone.ask(ask(1), chunks)
    gone.stage.replace("version: 1\nrules: []")
    assert gone.ids("request") == [1]


def test_when_its_connection_is_closed_it_waits_no_longer() -> None:
    actor = stage("breakpoint")
    actor.ask(ask(1))
    actor.close()
    assert halted(actor) == []
    assert [exchange.note for exchange in actor.done] == [
        "request not forwarded: connection closed"
    ]
