from __future__ import annotations

from barnabas.proxy.connection.actions import Abort
from tests.proxy.faults.given import CLOSED, UNANSWERED, Examples, Row, requests, responses, stage
from tests.proxy.frames import Chunks, slicings

EXAMPLES = Examples({}, rows=[Row("{}", CLOSED, CLOSED, UNANSWERED)])


@slicings
def test_both_sides_are_reset_and_the_message_does_not_leave(chunks: Chunks) -> None:
    actor = stage("reset", when="{skip: 1}")
    actor.ask(requests(1), chunks)
    actor.answer(responses(1), chunks)
    actor.ask(requests(2)[:-1], chunks)
    actions = actor.connection.receive("request", memoryview(requests(2)[-1:]), actor.stage.now)
    assert [action for action in actions if isinstance(action, Abort)] == [
        Abort("request not forwarded: a rule closed the connection", reset=True)
    ]
    assert actor.sent["request"] == requests(1)
    assert actor.sent["response"] == responses(1)
