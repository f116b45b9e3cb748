from __future__ import annotations

import pytest

from tests.proxy.faults.given import Examples, Row, requests, responses, stage
from tests.proxy.playbook import Chunks, slicings

EXAMPLES = Examples(
    {"time": "1s"},
    rows=[Row("{time: 1s, side: both}")],
    live=["{time: 5ms, side: both}"],
    says=[("{time: 0s}", "no_op", "time"), ("{time: 1s}", "no_op", "")],
)


@slicings
@pytest.mark.parametrize(
    ("side", "full"),
    [("client", (True, False)), ("broker", (False, True)), ("both", (True, True))],
)
def test_nothing_is_read_for_a_while(chunks: Chunks, side: str, full: tuple[bool, bool]) -> None:
    actor = stage(f"{{stall: {{time: 100ms, side: {side}}}}}", when="{skip: 1, times: 1}")

    def full_ones() -> tuple[bool, bool]:
        return actor.connection.full("request"), actor.connection.full("response")

    actor.ask(requests(1), chunks)
    assert full_ones() == (False, False)
    actor.ask(requests(2), chunks)
    assert actor.sent["request"] == requests(1, 2)  # the message itself leaves
    assert full_ones() == full
    actor.stage.wait(99)
    assert full_ones() == full
    actor.stage.wait(1)
    assert full_ones() == (False, False)
    actor.answer(responses(1, 2), chunks)
    assert actor.sent["response"] == responses(1, 2)
