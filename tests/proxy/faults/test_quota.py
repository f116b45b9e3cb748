from __future__ import annotations

import pytest

from barnabas.proxy.rules.outcome import outcome
from tests.proxy.faults.given import Examples, Row, ask, beat, message, slicings, stage
from tests.proxy.playbook import Chunks, response

EXAMPLES = Examples(
    {"throttle": "1s"},
    rows=[Row("1s")],
    live=["5ms"],
    subject=message("Heartbeat", "response", 1),
    about=("Heartbeat", "response"),
)


@slicings
@pytest.mark.parametrize("mute", [True, False])
def test_the_client_is_told_at_once_and_not_read_from(chunks: Chunks, mute: bool) -> None:
    actor = stage(
        f"{{quota: {{throttle: 250ms, mute: {str(mute).lower()}}}}}",
        "{api: Heartbeat, direction: response}",
        "{times: 1}",
    )
    actor.ask(ask(1), chunks)
    actor.answer(beat(1), chunks)
    assert actor.sent["response"] == response("Heartbeat", 1, error_code=0, throttle_time_ms=250)
    assert actor.connection.full("request") is mute
    assert not actor.connection.full("response")
    actor.stage.wait(250)
    assert not actor.connection.full("request")
    (found,) = actor.done
    assert found.response == {"error_code": 0, "throttle_time_ms": 250}


def test_a_response_that_can_not_say_it_stays() -> None:
    actor = stage("{quota: 1s}", "{api: Heartbeat, direction: request}")
    actor.ask(ask(1))
    assert actor.sent["request"] == ask(1)
    assert actor.stage.rules.rule("r").unable == 1
    assert "could not be done" in outcome(actor.stage.rules.rule("r")).what
