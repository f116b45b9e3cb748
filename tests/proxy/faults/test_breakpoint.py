from __future__ import annotations

import pytest

from barnabas.proxy.effects import Halt
from barnabas.proxy.rules.outcome import outcome
from tests.proxy.faults.given import Examples, Row, effect_of, halted, requests, responses, stage
from tests.proxy.playbook import Chunks, slicings

EXAMPLES = Examples({}, rows=[Row("2s")], live=["3ms"])

S = 1_000_000_000


def test_it_waits_for_five_minutes_unless_told() -> None:
    assert effect_of("breakpoint", {}) == Halt(300 * S)
    assert effect_of("breakpoint", {"at_most": "2s"}) == Halt(2 * S)


@slicings
def test_what_is_behind_it_waits_until_its_time_is_up(chunks: Chunks) -> None:
    actor = stage("{breakpoint: 2s}", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
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
    actor.ask(requests(1), chunks)
    if direction == "response":
        actor.answer(responses(1), chunks)
    assert len(halted(actor)) == 1
    actor.end("request")
    assert (halted(actor), actor.ids("request")) == ([], [1])
    rule = actor.stage.rules.rule("r")
    assert (rule.released, rule.expired, rule.ended) == (0, 0, 1)
    assert outcome(rule).what == "breakpoint, 1 left when the connection ended"


@slicings
def test_when_the_broker_has_gone_a_request_leaves_and_a_response_waits_on(chunks: Chunks) -> None:
    actor = stage("breakpoint", "{api: Heartbeat}")
    actor.ask(requests(1), chunks)
    actor.stage.decide("1.1")
    actor.answer(responses(1), chunks)
    actor.ask(requests(2), chunks)
    actor.end("response")
    assert [waiting.id for waiting in halted(actor)] == ["1.2"]
    assert actor.ids("request") == [1, 2]


@slicings
def test_when_its_rule_lets_go_or_is_gone_it_leaves(chunks: Chunks) -> None:
    actor = stage("breakpoint", "{api: Heartbeat, direction: response}")
    actor.ask(requests(1, 2), chunks)
    actor.answer(responses(1, 2), chunks)
    actor.stage.release("other")
    assert actor.ids("response") == []
    actor.stage.release("r")
    assert actor.ids("response") == [1, 2]
    assert actor.stage.rules.rule("r").released == 2
    gone = stage("breakpoint")
    gone.ask(requests(1), chunks)
    gone.stage.replace("version: 1\nrules: []")
    assert gone.ids("request") == [1]


def test_when_its_connection_is_closed_it_waits_no_longer() -> None:
    actor = stage("breakpoint")
    actor.ask(requests(1))
    actor.close()
    assert halted(actor) == []
