from __future__ import annotations

from tests.proxy.faults.given import CLOSED, UNANSWERED, Examples, Row, requests, responses, stage
from tests.proxy.playbook import Chunks, slicings

EXAMPLES = Examples(
    {}, rows=[Row("{at_most: 1s}", CLOSED, CLOSED, UNANSWERED)], live=["{at_most: 20ms}"]
)


@slicings
def test_nothing_passes_and_nobody_is_told(chunks: Chunks) -> None:
    actor = stage("{blackhole: {at_most: 1m}}", when="{skip: 1}")
    actor.ask(requests(1, 2, 3), chunks)
    actor.answer(responses(1), chunks)
    actor.end("request")
    actor.end("response")
    actor.stage.wait(59_999)
    assert (actor.sent["request"], actor.sent["response"]) == (requests(1), b"")
    assert (actor.finished, actor.aborted) == ([], False)
    actor.stage.wait(1)
    assert actor.aborted
    actor.close()
    assert {x.correlation_id for x in actor.done} >= {1, 2}
