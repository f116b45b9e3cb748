from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import ScenarioError
from tests.proxy.faults.given import ALL, Examples, Fate, Row, ask, beat, slicings, stage
from tests.proxy.playbook import Chunks, request, response

EXAMPLES = Examples(
    {"api": "Heartbeat", "version": 0},
    rows=[
        Row(
            "{api: Heartbeat, version: 1}",
            Fate([1, *ALL], [2, 3]),
            Fate([1, *ALL], ALL),
            Fate(ALL, [1, *ALL]),
        ),
        Row(
            "{api: Heartbeat, version: 1, direction: response}",
            Fate(ALL, ALL),
            Fate(ALL, [1, *ALL]),
            Fate(ALL, [1, *ALL]),
        ),
    ],
)

LEAVE = "{api: LeaveGroup, version: 0, body: {group_id: g, member_id: m}}"


@slicings
def test_the_broker_gets_it_and_its_answer_is_taken_out(chunks: Chunks) -> None:
    actor = stage(f"{{inject: {LEAVE}}}", when="{times: 1}")
    actor.ask(ask(1) + ask(2), chunks)
    leave = request("LeaveGroup", 1, version=0, group_id="g", member_id="m")
    assert actor.sent["request"] == ask(1) + leave + ask(2)
    actor.answer(beat(1) + response("LeaveGroup", 1, version=0) + beat(2, 25), chunks)
    assert actor.sent["response"] == beat(1) + beat(2, 25)
    assert [(x.api, x.correlation_id) for x in actor.done] == [("Heartbeat", 1), ("Heartbeat", 2)]
    assert [comment["edits"] for _, _, comment in actor.left] == [["injected"]]
    assert actor.connection.idle


@slicings
def test_a_response_that_nobody_asked_for(chunks: Chunks) -> None:
    settings = "{api: Heartbeat, version: 1, direction: response, correlation_id: 99}"
    actor = stage(f"{{inject: {settings}}}", when="{times: 1}")
    actor.ask(ask(1), chunks)
    assert actor.sent["response"] == beat(99)
    actor.answer(beat(1), chunks)
    assert actor.sent["response"] == beat(99) + beat(1)


def test_a_version_that_is_not_there_is_refused_at_load() -> None:
    with pytest.raises(ScenarioError, match="StopReplica has 0 to 4"):
        stage("{inject: {api: StopReplica, version: 9}}")


def test_a_body_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ScenarioError, match="nothing: no such field"):
        stage("{inject: {api: Heartbeat, version: 0, body: {nothing: 1}}}")
