"""Only as much is read as rules and log need, which may change while frames are under way."""

from __future__ import annotations

import pytest

from tests.proxy.connection.test_header_walk import chunks_forwarded
from tests.proxy.frames import (
    Chunks,
    heartbeat_request,
    heartbeat_response,
    leave_request,
    response,
    slicings,
)
from tests.proxy.playbook import Stage, ruled

HOLD = "{hold: {until: {api: JoinGroup}, at_most: 5s}}"


def test_messages_are_skimmed_again_when_the_last_rule_about_them_is_gone() -> None:
    actor = ruled(HOLD, observed=False)
    actor.ask(heartbeat_request(1) + leave_request(2))
    actor.ask(leave_request(3)[:9])
    assert actor.ids("request") == [2]
    actor.ask(leave_request(3)[9:])
    actor.stage.replace("")
    # their order was to be kept
    actor.answer(response("LeaveGroup", 2) + response("LeaveGroup", 3) + heartbeat_response(1))
    assert actor.ids("response") == [1, 2, 3]
    actor.ask(leave_request(4))  # from then on it is known
    actor.answer(response("LeaveGroup", 4))
    for piece in (leave_request(5)[:20], leave_request(5)[20:]):
        assert chunks_forwarded(actor, "request", piece)
    assert chunks_forwarded(actor, "response", response("LeaveGroup", 5))
    assert actor.counts == {"LeaveGroup": 4, "Heartbeat": 1}


@pytest.mark.parametrize("cut", range(1, 60, 7))
@slicings
def test_observing_begins_and_ends_anywhere_in_a_frame(cut: int, chunks: Chunks) -> None:
    actor = Stage(observed=False).actor()
    asked, answered = (
        b"".join(map(frame, range(4))) for frame in (heartbeat_request, heartbeat_response)
    )
    for wanted, part in enumerate((asked[:cut], asked[cut : cut + 40], asked[cut + 40 :])):
        actor.ask(part, chunks)
        actor.stage.observe(wanted == 0)
    half = cut // 2
    actor.answer(answered[:half], chunks)
    actor.stage.observe(True)
    actor.answer(answered[half:], chunks)
    assert actor.sent == {"request": asked, "response": answered}
    assert actor.counts == {"Heartbeat": 4}, "each is counted once"
    assert not actor.stage.totals.undecoded
    assert actor.connection.idle


def test_exchanges_are_reported_while_somebody_looks() -> None:
    actor = Stage(observed=False).actor()
    for number, wanted in ((1, False), (2, True), (3, False)):
        actor.stage.observe(wanted)
        actor.ask(heartbeat_request(number))
        actor.answer(heartbeat_response(number))
    assert [exchange.correlation_id for exchange in actor.done] == [2]
    assert actor.done[0].request is not None
