from __future__ import annotations

from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Row, ask, beat, slicings, stage
from tests.proxy.playbook import Chunks

EXAMPLES = Examples(
    {},
    rows=[
        Row(
            "{at_most: 1s}",
            Fate(NONE, NONE, "closed"),
            Fate(NONE, NONE, "closed"),
            Fate(ALL, NONE, "closed"),
        )
    ],
    live=["{at_most: 20ms}"],
)


@slicings
def test_nothing_passes_and_nobody_is_told(chunks: Chunks) -> None:
    actor = stage("{blackhole: {at_most: 1m}}", when="{skip: 1}")
    actor.ask(ask(1) + ask(2) + ask(3), chunks)
    actor.answer(beat(1), chunks)
    actor.end("request")
    actor.end("response")
    actor.stage.wait(59_999)
    assert actor.sent["request"] == ask(1)
    assert actor.sent["response"] == b""
    assert actor.finished == []
    early = actor.aborted
    actor.stage.wait(1)
    assert (early, actor.aborted) == (False, True)
    actor.close()
    assert {x.correlation_id for x in actor.done} >= {1, 2}
