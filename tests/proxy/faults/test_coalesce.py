from __future__ import annotations

from tests.proxy.faults.given import ask, beat, slicings, stage
from tests.proxy.playbook import Chunks


@slicings
def test_messages_leave_together_in_their_order(chunks: Chunks) -> None:
    actor = stage("{coalesce: {count: 3, at_most: 50ms}}")
    actor.ask(ask(1) + ask(2), chunks)
    assert actor.sent["request"] == b""
    actor.ask(ask(3) + ask(4), chunks)
    assert actor.sent["request"] == ask(1) + ask(2) + ask(3)
    actor.stage.wait(60)
    assert actor.sent["request"] == ask(1) + ask(2) + ask(3) + ask(4)
    assert [at for at, _ in actor.times["request"]] == [0, 0, 0, 50]
    actor.answer(beat(1) + beat(2) + beat(3) + beat(4), chunks)
    assert actor.sent["response"] == beat(1) + beat(2) + beat(3) + beat(4)
