from __future__ import annotations

import pytest

from tests.proxy.faults.given import Examples, Row, ask, beat, slicings
from tests.proxy.playbook import Chunks, Stage, request

EXAMPLES = Examples(
    {"lasts": "1s"},
    rows=[Row("{lasts: 1s}")],
    live=["{lasts: 5ms}"],
)

RULE = """
version: 1
rules:
- name: r
  match: {{api: JoinGroup, direction: request}}
  do: {{isolate: {{lasts: 100ms, {more}}}}}
"""


def begin(stage: Stage) -> None:
    """Set it off, on a connection to broker 9."""
    other = stage.actor(9)
    other.ask(request("JoinGroup", 99, version=5, client="starter", group_id="g"))


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_all_that_is_sent_meanwhile_arrives_behind_it(chunks: Chunks, observed: bool) -> None:
    stage = Stage(RULE.format(more="brokers: 1"), observed=observed)
    actor, other = stage.actor(1), stage.actor(2)
    actor.ask(ask(1), chunks)
    begin(stage)
    assert actor.connection.full("request")
    assert actor.connection.full("response")
    assert not other.connection.full("request")
    actor.answer(beat(1), chunks)
    actor.ask(ask(2), chunks)
    other.ask(ask(7), chunks)
    stage.wait(99)
    assert actor.sent["request"] == ask(1)
    assert actor.sent["response"] == b""
    assert other.sent["request"] == ask(7)
    stage.wait(1)
    assert actor.sent["request"] == ask(1) + ask(2)
    assert actor.sent["response"] == beat(1)
    assert not actor.connection.full("request")
    actor.answer(beat(2), chunks)
    assert actor.sent["response"] == beat(1) + beat(2)
    assert actor.connection.idle


@pytest.mark.parametrize(
    ("direction", "sent", "answered"), [("request", b"", True), ("response", ask(2), False)]
)
def test_it_may_be_one_way(direction: str, sent: bytes, answered: bool) -> None:
    stage = Stage(RULE.format(more=f"direction: {direction}"))
    actor = stage.actor(1)
    actor.ask(ask(1))
    begin(stage)
    actor.ask(ask(2))
    actor.answer(beat(1))
    assert actor.sent["request"] == ask(1) + sent
    assert bool(actor.sent["response"]) is answered


def test_a_connection_that_comes_later_is_isolated_too_once_the_client_says_its_name() -> None:
    stage = Stage(RULE.format(more="clients: 'm*'"))
    begin(stage)
    actor, other = stage.actor(1), stage.actor(1)
    actor.ask(ask(1))
    other.ask(request("Heartbeat", 1, client="you", group_id="g"))
    assert actor.sent["request"] == b""
    assert other.sent["request"]
    stage.wait(100)
    assert actor.sent["request"] == ask(1)
