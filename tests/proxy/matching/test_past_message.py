"""What has passed, as rules would see it again: the same as they saw."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.proxy.matching.past_message import NOT_KEPT, past_message
from tests.proxy.faults.given import produce, requests, responses, stage
from tests.proxy.frames import heartbeat_response, request, response
from tests.proxy.playbook import START


def exchange(asked: bytes, answer: bytes) -> Exchange:
    """One whose response came 5 ms later, and was delayed."""
    actor = stage("{delay: 3ms}", "{direction: response}")
    actor.ask(asked)
    actor.stage.wait(5)
    actor.answer(answer)
    actor.stage.wait(3)
    (found,) = actor.done
    return found


@pytest.mark.parametrize(("asked", "answer", "acks"), [
    (requests(7), responses(7), None),
    (produce(7, acks=-1), response("Produce", 7, version=7), -1),
    (request("Heartbeat", 7, version=4, group_id="g"), b"\0\0\0\x0c\0\0\0\x07" + bytes(8), None),
])  # fmt: skip
def test_frames_are_what_they_were(asked: bytes, answer: bytes, acks: int | None) -> None:
    one = exchange(asked, answer)
    ask, back = past_message(one, "request", 3), past_message(one, "response")
    assert (ask.frame, back.frame) == (asked, answer)
    assert (ask.size, back.size) == (len(asked) - 4, len(answer) - 4)
    assert (ask.acks, back.acks) == (acks, None)
    assert (ask.request, back.request) == (None, ask.body)
    assert (ask.arrived, back.arrived) == (START, START + 5_000_000)
    assert (ask.too_large, back.too_large) == ("", "")
    assert (ask.client_id, ask.ordinal, ask.broker, ask.correlation_id) == ("me", 3, 1, 7)
    assert ask.listener(3) == ("", 0)


def test_a_response_is_seen_as_it_came_and_not_as_it_left() -> None:
    one = exchange(requests(1), heartbeat_response(1, 27))
    assert past_message(one, "response").errors() == {27}
    one.response_came = responses(1)[8:]
    assert past_message(one, "response").errors() == {0}


@pytest.mark.parametrize(
    ("lost", "kept"), [({"request_body": None}, (False, False)), ({"response_body": None}, (True, False))]
)  # fmt: skip
def test_what_is_not_kept_is_undecided(lost: dict[str, Any], kept: tuple[bool, bool]) -> None:
    one = exchange(requests(1), responses(1))
    for name, value in lost.items():
        setattr(one, name, value)
    found = [past_message(one, direction).too_large for direction in ("request", "response")]
    assert found == ["" if whole else NOT_KEPT for whole in kept]


def test_of_a_response_that_never_came_there_is_no_size() -> None:
    one = exchange(requests(1), responses(1))
    one.response_size, one.broker_ms, one.ended = None, None, START + 9
    assert (past_message(one, "response").size, past_message(one, "response").arrived) == (
        0,
        START + 9,
    )
