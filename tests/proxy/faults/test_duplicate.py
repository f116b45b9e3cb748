from __future__ import annotations

from tests.proxy.faults.given import ALL, Examples, Fate, Row, produce, requests, responses, stage
from tests.proxy.playbook import Chunks, slicings

EXAMPLES = Examples(
    {}, rows=[Row("{}", Fate([1, *ALL], [2, 3]), Fate([1, *ALL], ALL), Fate(ALL, [1, *ALL]))]
)


@slicings
def test_the_broker_is_asked_again_and_the_client_answered_once(chunks: Chunks) -> None:
    actor = stage("{duplicate: {times: 2}}", when="{times: 1}")
    actor.ask(requests(1, 2), chunks)
    assert actor.sent["request"] == requests(1, 1, 1, 2)
    actor.answer(responses(1, 1, 1, 2), chunks)
    assert actor.sent["response"] == responses(1, 2)
    assert [x.correlation_id for x in actor.done] == [1, 2]
    assert actor.connection.idle
    assert actor.stage.totals.undecoded == 0


@slicings
def test_nothing_is_taken_out_for_acks_0(chunks: Chunks) -> None:
    actor = stage("duplicate", "{api: Produce, direction: request}")
    actor.ask(produce(1, acks=0) + requests(2), chunks)
    assert actor.sent["request"] == produce(1, acks=0) * 2 + requests(2)
    actor.answer(responses(2), chunks)
    assert actor.sent["response"] == responses(2)
    told = [(x.correlation_id, x.note) for x in actor.done]
    assert told == [(1, "no response (acks=0)"), (2, "")]


@slicings
def test_a_response_comes_twice(chunks: Chunks) -> None:
    actor = stage("duplicate", "{api: Heartbeat, direction: response}")
    actor.ask(requests(1), chunks)
    actor.answer(responses(1), chunks)
    assert actor.sent["response"] == responses(1, 1)
    assert [way for way, _, _ in actor.left] == ["response"]
