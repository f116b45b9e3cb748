from __future__ import annotations

from tests.proxy.faults.given import Examples, Play, Row, requests, stage
from tests.proxy.playbook import Stage

PIECES = -(-len(requests(1)) // 10)
TIMES = " ".join(str(5.0 * n) for n in [*range(PIECES), PIECES - 1])

EXAMPLES = Examples(
    {},
    rows=[Row("{size: 8B}")],
    live=["{size: 8B, every: 1ms}"],
    plays=[
        Play("the message leaves in pieces and nothing comes in between", "{size: 10B, every: 5ms}",
             f"ask 1 2; wait 100; sent 1 2; at {TIMES}; answer 1 2; got 1 2; told 1 2; idle",
             when="{times: 1}"),
    ],
)  # fmt: skip


def test_each_piece_has_its_size_but_the_last() -> None:
    actor = stage("{slice: {size: 10B, every: 5ms}}")
    actor.ask(requests(1))
    actor.stage.wait(100)
    pieces = [data for _, data in actor.times["request"]]
    assert [len(data) for data in pieces[:-1]] == [10] * (PIECES - 1)
    assert b"".join(pieces) == requests(1)


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
