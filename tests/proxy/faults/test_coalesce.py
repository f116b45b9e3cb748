from __future__ import annotations

from tests.proxy.faults.given import Examples, Row, produce, requests, responses, stage
from tests.proxy.playbook import Chunks, slicings

EXAMPLES = Examples({}, rows=[Row("{count: 2}")], live=["{count: 2, at_most: 5ms}"])


@slicings
def test_messages_leave_together_in_their_order(chunks: Chunks) -> None:
    actor = stage("{coalesce: {count: 3, at_most: 50ms}}")
    actor.ask(requests(1, 2), chunks)
    assert actor.sent["request"] == b""
    actor.ask(requests(3, 4), chunks)
    assert actor.sent["request"] == requests(1, 2, 3)
    actor.stage.wait(60)
    assert actor.sent["request"] == requests(1, 2, 3, 4)
    assert [at for at, _ in actor.times["request"]] == [0, 0, 0, 50]
    actor.answer(responses(1, 2, 3, 4), chunks)
    assert actor.sent["response"] == responses(1, 2, 3, 4)


@slicings
def test_what_comes_in_between_keeps_its_place(chunks: Chunks) -> None:
    actor = stage("{coalesce: {count: 2, at_most: 50ms}}")
    actor.ask(requests(1) + produce(2) + requests(3) + produce(4), chunks)
    assert actor.ids("request") == [1, 2, 3, 4]
    actor.ask(requests(5) + produce(6), chunks)
    assert actor.ids("request") == [1, 2, 3, 4]
    actor.stage.wait(50)
    actor.ask(requests(7), chunks)
    assert actor.ids("request") == [1, 2, 3, 4, 5, 6]
    actor.end("request")  # no more will come
    assert actor.ids("request") == [1, 2, 3, 4, 5, 6, 7]


def test_a_delay_keeps_its_time_when_the_batch_is_complete() -> None:
    actor = stage("[{delay: 1s}, {coalesce: {count: 2, at_most: 9s}}]")
    actor.ask(requests(1, 2))
    actor.stage.wait(999)
    assert actor.sent["request"] == b""
    actor.stage.wait(1)
    assert actor.ids("request") == [1, 2]


def test_a_batch_leaves_when_its_rule_goes() -> None:
    actor = stage("{coalesce: {count: 9, at_most: 9s}}")
    actor.ask(requests(1) + produce(2) + requests(3))
    actor.stage.replace("version: 1\nrules: []\n")
    assert actor.ids("request") == [1, 2, 3]
    assert not actor.connection.state.queues["request"].batches
