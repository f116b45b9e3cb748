from __future__ import annotations

from barnabas.proxy.connection.actions import Abort
from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Row, ask, beat, slicings, stage
from tests.proxy.playbook import Chunks

EXAMPLES = Examples(
    {},
    rows=[
        Row("{}", Fate(NONE, NONE, "closed"), Fate(NONE, NONE, "closed"), Fate(ALL, NONE, "closed"))
    ],
)


@slicings
def test_both_sides_are_reset_and_the_message_does_not_leave(chunks: Chunks) -> None:
    actor = stage("reset", when="{skip: 1}")
    actor.ask(ask(1), chunks)
    actor.answer(beat(1), chunks)
    actor.ask(ask(2)[:-1], chunks)
    actions = actor.connection.receive("request", memoryview(ask(2)[-1:]), actor.stage.now)
    assert [action for action in actions if isinstance(action, Abort)] == [
        Abort("request not forwarded: a rule closed the connection", reset=True)
    ]
    assert actor.sent["request"] == ask(1)
    assert actor.sent["response"] == beat(1)
