from __future__ import annotations

import pytest

from tests.proxy.faults.given import (
    NONE,
    UNANSWERED,
    Examples,
    Fate,
    Play,
    Row,
    requests,
    responses,
    stage,
)
from tests.proxy.frames import Chunks, slicings

EXAMPLES = Examples(
    {},
    rows=[Row("{}", Fate([1], NONE, "closed"), UNANSWERED, UNANSWERED)],
    plays=[
        Play("acks=0 is cut behind the request", "{}", "ask Produce1/0; sent Produce1/0; aborted",
             match="{api: Produce, direction: request}"),
    ],
)  # fmt: skip


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_the_broker_is_asked_and_the_client_never_hears(chunks: Chunks, direction: str) -> None:
    actor = stage("lose_reply", f"{{direction: {direction}}}", when="{skip: 1, times: 1}")
    actor.ask(requests(1, 2, 3), chunks)
    assert actor.sent["request"] == requests(1, 2, 3)
    actor.answer(responses(1), chunks)
    early = actor.aborted
    actor.answer(responses(2))
    assert (early, actor.aborted) == (False, True)
    assert actor.sent["response"] == responses(1)
    actor.close()
    lost = next(x for x in actor.done if x.correlation_id == 2)
    assert "response not forwarded: a rule closed the connection" in lost.note
    assert "r" in lost.rules
    assert lost.response == {"error_code": 0, "throttle_time_ms": 0}
    assert {x.correlation_id for x in actor.done} == {1, 2, 3}
