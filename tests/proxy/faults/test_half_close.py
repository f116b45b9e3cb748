from __future__ import annotations

import pytest

from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Play, Row, requests, stage

EXAMPLES = Examples(
    {},
    rows=[Row("{}", Fate([1], NONE, "lost"), Fate([1], [1], "lost"), Fate(ALL, [1], "lost"))],
    plays=[
        Play("the other direction goes on", "{}",
             "ask 1 2 3; sent 1 2; finished request; answer 1 2; got 1 2; open; end request; "
             "finished request", when="{skip: 1, times: 1}"),
    ],
)  # fmt: skip


@pytest.mark.parametrize(("do", "note"), [
    ("half_close", "request lost behind a dropped one"),
    ("[{delay: 100ms}, half_close]", "request lost behind a half-close"),  # it waited already
])  # fmt: skip
def test_nothing_leaves_behind_it(do: str, note: str) -> None:
    actor = stage(do, when="{skip: 1, times: 1}")
    actor.ask(requests(1, 2, 3))
    actor.stage.wait(100)
    assert actor.sent["request"] == requests(1, 2)
    assert actor.finished == ["request"]
    assert [(x.correlation_id, x.note) for x in actor.done] == [(3, note)]
