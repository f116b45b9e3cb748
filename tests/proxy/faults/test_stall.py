from __future__ import annotations

import pytest

from tests.proxy.faults.given import Examples, Row, ask, beat, slicings, stage
from tests.proxy.playbook import Chunks

EXAMPLES = Examples(
    {"time": "1s"},
    rows=[Row("{time: 1s, side: both}")],
    live=["{time: 5ms, side: both}"],
)


@slicings
@pytest.mark.parametrize(
    ("side", "requests", "responses"),
    [("client", True, False), ("broker", False, True), ("both", True, True)],
)
def test_nothing_is_read_for_a_while(
    chunks: Chunks, side: str, requests: bool, responses: bool
) -> None:
    actor = stage(f"{{stall: {{time: 100ms, side: {side}}}}}", when="{skip: 1, times: 1}")
    actor.ask(ask(1), chunks)
    assert not actor.connection.full("request")
    actor.ask(ask(2), chunks)
    assert actor.sent["request"] == ask(1) + ask(2)  # the message itself leaves
    assert actor.connection.full("request") is requests
    assert actor.connection.full("response") is responses
    actor.stage.wait(99)
    assert actor.connection.full("request") is requests
    actor.stage.wait(1)
    assert not actor.connection.full("request")
    assert not actor.connection.full("response")
    actor.answer(beat(1) + beat(2), chunks)
    assert actor.sent["response"] == beat(1) + beat(2)
