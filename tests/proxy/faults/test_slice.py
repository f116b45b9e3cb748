from __future__ import annotations

from tests.proxy.faults.given import Examples, Row, requests, responses, stage
from tests.proxy.playbook import Chunks, Stage, slicings

EXAMPLES = Examples({}, rows=[Row("{size: 8B}")], live=["{size: 8B, every: 1ms}"])


@slicings
def test_the_message_leaves_in_pieces_and_nothing_comes_in_between(chunks: Chunks) -> None:
    actor = stage("{slice: {size: 10B, every: 5ms}}", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
    actor.stage.wait(100)
    assert actor.sent["request"] == requests(1, 2)
    count = -(-len(requests(1)) // 10)
    times = [at for at, _ in actor.times["request"]]
    assert times == [5.0 * n for n in range(count)] + [5.0 * (count - 1)]
    assert [len(data) for _, data in actor.times["request"]][: count - 1] == [10] * (count - 1)
    actor.answer(responses(1, 2), chunks)
    assert actor.sent["response"] == responses(1, 2)
    assert [x.correlation_id for x in actor.done] == [1, 2]
    assert actor.connection.idle


def test_one_that_was_held_does_not_come_in_between_either() -> None:
    hold = "{hold: {until: {api: ListGroups, direction: request}, at_most: 12ms}}"
    actor = Stage(
        "version: 1\nrules:\n"
        f"- {{name: hold, match: {{direction: request}}, when: {{times: 1}}, do: {hold}}}\n"
        "- {name: pieces, match: {direction: request}, do: {slice: {size: 10B, every: 5ms}}}\n"
    ).actor()
    actor.ask(requests(1, 2))
    actor.stage.wait(200)
    assert actor.ids("request") == [2, 1]
