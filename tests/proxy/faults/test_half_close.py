from __future__ import annotations

from tests.proxy.faults.given import (
    ALL,
    NONE,
    Examples,
    Fate,
    Row,
    requests,
    responses,
    stage,
)
from tests.proxy.playbook import Chunks, slicings

EXAMPLES = Examples(
    {}, rows=[Row("{}", Fate([1], NONE, "lost"), Fate([1], [1], "lost"), Fate(ALL, [1], "lost"))]
)


@slicings
def test_the_other_direction_goes_on(chunks: Chunks) -> None:
    actor = stage("half_close", when="{skip: 1, times: 1}")
    actor.ask(requests(1, 2, 3), chunks)
    assert actor.sent["request"] == requests(1, 2)
    assert actor.finished == ["request"]
    actor.answer(responses(1, 2), chunks)
    assert actor.sent["response"] == responses(1, 2)
    lost = [x.note for x in actor.done if x.correlation_id == 3]
    assert lost == ["request lost behind a dropped one"]
    assert not actor.aborted
    actor.end("request")
    assert actor.finished == ["request"]


@slicings
def test_nothing_leaves_behind_it_though_it_waited_already(chunks: Chunks) -> None:
    actor = stage("[{delay: 100ms}, half_close]", when="{skip: 1, times: 1}")
    actor.ask(requests(1, 2, 3), chunks)
    actor.stage.wait(100)
    assert actor.sent["request"] == requests(1, 2)
    assert actor.finished == ["request"]
    told = [(x.correlation_id, x.note) for x in actor.done]
    assert told == [(3, "request lost behind a half-close")]
