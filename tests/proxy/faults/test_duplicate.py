from __future__ import annotations

from tests.proxy.faults.given import (
    ALL,
    Examples,
    Fate,
    Play,
    Row,
    produce,
    requests,
    responses,
    stage,
)

EXAMPLES = Examples(
    {},
    rows=[Row("{}", Fate([1, *ALL], [2, 3]), Fate([1, *ALL], ALL), Fate(ALL, [1, *ALL]))],
    plays=[
        Play("the broker is asked again and the client answered once", "{times: 2}",
             "ask 1 2; sent 1 1 1 2; answer 1 1 1 2; got 1 2; told 1 2; idle", when="{times: 1}"),
        Play("a response comes twice", "{}", "ask 1; answer 1; got 1 1; left response",
             match="{api: Heartbeat, direction: response}"),
    ],
)  # fmt: skip


def test_nothing_is_taken_out_for_acks_0() -> None:
    actor = stage("duplicate", "{api: Produce, direction: request}")
    actor.ask(produce(1, acks=0) + requests(2))
    assert actor.sent["request"] == produce(1, acks=0) * 2 + requests(2)
    actor.answer(responses(2))
    assert actor.sent["response"] == responses(2)
    told = [(x.correlation_id, x.note) for x in actor.done]
    assert told == [(1, "no response (acks=0)"), (2, "")]
