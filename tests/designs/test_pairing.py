from __future__ import annotations

import pytest

from barnabas.captures.kafka.pairing.dialect_pairing import Answer, Asked, pairing_of
from barnabas.designs.central_coordination.pairing import OrderedPairing
from barnabas.designs.central_coordination.peers import wire as central
from barnabas.designs.consumer_rewrite.peers import wire as rewrite
from barnabas.designs.dialogue import Dialogue
from barnabas.designs.protocol_guide.client_0_8.requests import produce
from barnabas.specs.dialects import dialect
from barnabas.specs.malformed import Malformed

REGISTER = {
    "group_id": "g",
    "consumer_id": "c1",
    "topic_count": "*1*t",
    "auto_commit": False,
    "auto_offset_reset": "largest",
    "session_timeout_ms": 900,
}


def test_after_registration_the_other_side_asks() -> None:
    talk = pairing_of(dialect("central-coordination"))
    asked = talk.frame("request", central.request("RegisterConsumer", REGISTER)[4:])
    assert isinstance(asked, Asked)
    assert (asked.api, asked.side, talk.client) == ("RegisterConsumer", "request", "c1")
    answer = talk.frame("response", central.response("RegisterConsumer")[4:])
    assert answer == Answer(asked, b"", "")
    stop = talk.frame("response", central.request("StopFetcher")[4:])
    assert isinstance(stop, Asked)
    assert stop.side == "response"
    answer = talk.frame("request", central.response("StopFetcher", offsets=False)[4:])
    assert isinstance(answer, Answer)
    assert answer.asked is stop
    # it has registered without auto commit: no offsets
    assert talk.response(stop, answer.body) == {}


def test_an_error_in_the_header_is_named() -> None:
    talk = pairing_of(dialect("central-coordination"))
    talk.frame("request", central.request("RegisterConsumer", REGISTER)[4:])
    answer = talk.frame(
        "response", central.response("RegisterConsumer", "SessionTimeoutTooLow")[4:]
    )
    assert isinstance(answer, Answer)
    assert answer.error == "SessionTimeoutTooLow"
    assert isinstance(talk, OrderedPairing)
    assert talk.registered is None


def test_the_rewrite_answers_by_correlation_id() -> None:
    talk = pairing_of(dialect("rewrite-0.8.2"))
    beat = {"group_id": "g", "group_generation_id": 1, "consumer_id": "x"}
    asked = [talk.frame("request", rewrite.request("Heartbeat", n, "a", beat)[4:]) for n in (1, 2)]
    answer = talk.frame("response", rewrite.response("Heartbeat", 2, {"error_code": 0})[4:])
    assert isinstance(answer, Answer)
    assert answer.asked is asked[1]
    assert list(talk.waiting["request"]) == asked[:1]


@pytest.mark.parametrize("name", ["central-coordination", "rewrite-0.8.2"])
def test_a_produce_without_acks_waits_for_no_answer(name: str) -> None:
    talk, client = pairing_of(dialect(name)), Dialogue("me")
    lost = talk.frame("request", client.ask(0, 0, produce({}, 0, 1, "none"), answered=False)[4:])
    assert isinstance(lost, Asked)
    assert not lost.answered
    asked = talk.frame("request", client.ask(0, 0, produce({}, 1, 1, "none"))[4:])
    assert isinstance(asked, Asked)
    assert asked.answered
    assert list(talk.waiting["request"]) == [asked]
    talk.forget(lost)  # as a rule may want
    with pytest.raises(LookupError):
        talk.frame("response", (0).to_bytes(4))
    assert talk.frame("response", (1).to_bytes(4)) == Answer(asked, b"", "")


@pytest.mark.parametrize("name", ["central-coordination", "rewrite-0.8.2"])
@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xff\xff\xff", b"\x00\x07", bytes(9)])
def test_nonsense_is_malformed_or_unasked(name: str, data: bytes) -> None:
    talk = pairing_of(dialect(name))
    try:
        found = talk.frame("response", data)
    except (Malformed, LookupError):
        return
    assert isinstance(found, Asked)
    assert name == "central-coordination"
