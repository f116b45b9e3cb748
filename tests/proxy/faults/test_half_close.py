from __future__ import annotations

from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Row, ask, beat, slicings, stage
from tests.proxy.playbook import Chunks

EXAMPLES = Examples(
    {},
    rows=[Row("{}", Fate([1], NONE, "lost"), Fate([1], [1], "lost"), Fate(ALL, [1], "lost"))],
)


@slicings
def test_the_other_direction_goes_on(chunks: Chunks) -> None:
    actor = stage("half_close", when="{skip: 1, times: 1}")
    actor.ask(ask(1) + ask(2) + ask(3), chunks)
    assert actor.sent["request"] == ask(1) + ask(2)
    assert actor.finished == ["request"]
    actor.answer(beat(1) + beat(2), chunks)
    assert actor.sent["response"] == beat(1) + beat(2)
    assert [x.note for x in actor.done if x.correlation_id == 3] == [
        "request lost behind a dropped one"
    ]
    assert not actor.aborted
    actor.end("request")
    assert actor.finished == ["request"]


@slicings
def test_nothing_leaves_behind_it_though_it_waited_already(chunks: Chunks) -> None:
    given = stage("[{delay: 100ms}, half_close]", when="{skip: 1, times: 1}")
    given.ask(ask(1) + ask(2) + ask(3), chunks)
    given.stage.wait(100)
    assert given.sent["request"] == ask(1) + ask(2)
    assert given.finished == ["request"]
    assert [(x.correlation_id, x.note) for x in given.done] == [
        (3, "request lost behind a half-close")
    ]
