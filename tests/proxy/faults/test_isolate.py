from __future__ import annotations

import pytest

from tests.proxy.faults.given import Examples, Row, requests, responses
from tests.proxy.frames import Chunks, request, slicings
from tests.proxy.playbook import Stage

EXAMPLES = Examples(
    {"lasts": "1s"},
    rows=[Row("{lasts: 1s}")],
    live=["{lasts: 5ms}"],
    says=[
        ("{lasts: 0s}", "no_op", "lasts"),
        ("{lasts: 1s}", "no_op", ""),
        ("{lasts: 1s}", "across", "it acts on all connections"),
    ],
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
    join = request("JoinGroup", 99, version=5, client="starter", group_id="g")
    stage.actor(9).ask(join)


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_all_that_is_sent_meanwhile_arrives_behind_it(chunks: Chunks, observed: bool) -> None:
    stage = Stage(RULE.format(more="brokers: 1"), observed=observed)
    actor, other = stage.actor(1), stage.actor(2)
    actor.ask(requests(1), chunks)
    begin(stage)
    assert (actor.connection.full("request"), actor.connection.full("response")) == (True, True)
    assert not other.connection.full("request")
    actor.answer(responses(1), chunks)
    actor.ask(requests(2), chunks)
    other.ask(requests(7), chunks)
    stage.wait(99)
    assert actor.sent["request"] == requests(1)
    assert actor.sent["response"] == b""
    assert other.sent["request"] == requests(7)
    stage.wait(1)
    assert actor.sent["request"] == requests(1, 2)
    assert actor.sent["response"] == responses(1)
    assert not actor.connection.full("request")
    actor.answer(responses(2), chunks)
    assert actor.sent["response"] == responses(1, 2)
    assert actor.connection.idle


@pytest.mark.parametrize(
    ("direction", "sent", "answered"), [("request", b"", True), ("response", requests(2), False)]
)
def test_it_may_be_one_way(direction: str, sent: bytes, answered: bool) -> None:
    stage = Stage(RULE.format(more=f"direction: {direction}"))
    actor = stage.actor(1)
    actor.ask(requests(1))
    begin(stage)
    actor.ask(requests(2))
    actor.answer(responses(1))
    assert actor.sent["request"] == requests(1) + sent
    assert bool(actor.sent["response"]) is answered


def test_a_connection_that_comes_later_is_isolated_too_once_the_client_says_its_name() -> None:
    stage = Stage(RULE.format(more="clients: 'm*'"))
    begin(stage)
    actor, other = stage.actor(1), stage.actor(1)
    actor.ask(requests(1))
    other.ask(request("Heartbeat", 1, client="you", group_id="g"))
    assert actor.sent["request"] == b""
    assert other.sent["request"]
    stage.wait(100)
    assert actor.sent["request"] == requests(1)
