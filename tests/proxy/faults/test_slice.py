from __future__ import annotations

from tests.proxy.faults.given import Examples, Row, ask, beat, slicings, stage
from tests.proxy.playbook import Chunks

EXAMPLES = Examples(
    {},
    rows=[Row("{size: 8B}")],
    live=["{size: 8B, every: 1ms}"],
)


@slicings
def test_the_message_leaves_in_pieces_and_nothing_comes_in_between(chunks: Chunks) -> None:
    actor = stage("{slice: {size: 10B, every: 5ms}}", when="{times: 1}")
    actor.ask(ask(1) + ask(2), chunks)
    actor.stage.wait(100)
    assert actor.sent["request"] == ask(1) + ask(2)
    count = -(-len(ask(1)) // 10)
    times = [at for at, _ in actor.times["request"]]
    assert times == [5.0 * n for n in range(count)] + [5.0 * (count - 1)]
    assert [len(data) for _, data in actor.times["request"]][: count - 1] == [10] * (count - 1)
    actor.answer(beat(1) + beat(2), chunks)
    assert actor.sent["response"] == beat(1) + beat(2)
    assert [x.correlation_id for x in actor.done] == [1, 2]
    assert actor.connection.idle


def test_one_that_was_held_does_not_come_in_between_either() -> None:
    text = """
version: 1
rules:
- name: hold
  match: {api: Heartbeat, direction: request}
  when: {times: 1}
  do: {hold: {until: {api: ListGroups, direction: request}, at_most: 12ms}}
- name: pieces
  match: {api: Heartbeat, direction: request}
  do: {slice: {size: 10B, every: 5ms}}
"""
    from tests.proxy.playbook import Stage

    actor = Stage(text).actor()
    actor.ask(ask(1) + ask(2))
    actor.stage.wait(200)
    assert actor.ids("request") == [2, 1]
