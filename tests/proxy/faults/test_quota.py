from __future__ import annotations

import pytest

from tests.proxy.faults.given import Examples, Row, message, requests, responses, stage
from tests.proxy.frames import Chunks, response, slicings

SECOND = {"throttle": "1s"}
EXAMPLES = Examples(
    SECOND,
    rows=[Row("1s")],
    live=["5ms"],
    subject=message("Heartbeat", "response", 1),
    about=("Heartbeat", "response"),
    unable=[
        (SECOND, message("Heartbeat", "response", 0), "a response without throttle_time_ms"),
        (SECOND, message("Heartbeat", "request", 1), "a request without throttle_time_ms"),
    ],
    applies=[
        (SECOND, ("Heartbeat", "response", 1), True),
        (SECOND, ("Heartbeat", "response", 0), False),
        (SECOND, ("Heartbeat", "request", 1), False),
    ],
)


@slicings
@pytest.mark.parametrize("mute", [True, False])
def test_the_client_is_told_at_once_and_not_read_from(chunks: Chunks, mute: bool) -> None:
    do = f"{{quota: {{throttle: 250ms, mute: {str(mute).lower()}}}}}"
    actor = stage(do, "{api: Heartbeat, direction: response}", "{times: 1}")
    actor.ask(requests(1), chunks)
    actor.answer(responses(1), chunks)
    assert actor.sent["response"] == response("Heartbeat", 1, error_code=0, throttle_time_ms=250)
    assert actor.connection.full("request") is mute
    assert not actor.connection.full("response")
    actor.stage.wait(250)
    assert not actor.connection.full("request")
    (found,) = actor.done
    assert found.response == {"error_code": 0, "throttle_time_ms": 250}
