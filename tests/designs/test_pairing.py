from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

from barnabas.captures.kafka.pairing.dialect_pairing import (
    DialectRequest,
    DialectResponse,
    pairing_of,
)
from barnabas.designs.dialogue import Dialogue
from barnabas.designs.protocol_guide.client_0_8.requests import produce
from barnabas.specs.declaration import FOREVER, Int16, Int64
from barnabas.specs.dialect_frames import DialectFrame, encode_frame
from barnabas.specs.dialects import dialect
from barnabas.specs.frames import Direction
from barnabas.specs.message import Message


@pytest.mark.parametrize("name", ["central-coordination", "rewrite-0.8.2"])
def test_a_produce_without_acks_waits_for_no_answer(name: str) -> None:
    talk, client = pairing_of(dialect(name)), Dialogue("me")
    lost = talk.frame("request", client.ask(0, 0, produce({}, 0, 1, "none"), answered=False)[4:])
    assert isinstance(lost, DialectRequest)
    assert not lost.expects_response
    requested = talk.frame("request", client.ask(0, 0, produce({}, 1, 1, "none"))[4:])
    assert isinstance(requested, DialectRequest)
    assert requested.expects_response
    assert list(talk.waiting["request"]) == [requested]
    talk.forget(lost)  # as a rule may want
    with pytest.raises(LookupError):
        talk.frame("response", (0).to_bytes(4))
    assert talk.frame("response", (1).to_bytes(4)) == DialectResponse(requested, b"", "")


def rewrite_b(api: str, number: int, direction: Direction, body: dict[str, Any]) -> bytes:
    header = {"correlation_id": number}
    return encode_frame(dialect("rewrite-b"), DialectFrame(direction, api, header, body))[4:]


def test_a_response_whose_header_fits_two_requests_answers_the_one_that_it_decodes_as() -> None:
    talk = pairing_of(dialect("rewrite-b"))
    requested = []
    for number, (api, body) in enumerate(
        (
            ("ConsumerMetadata", {"group_id": "g", "client_id": "c"}),
            ("Heartbeat", {"group_id": "g", "consumer_id": "c"}),
        )
    ):
        result = talk.frame("request", rewrite_b(api, number, "request", body))
        assert isinstance(result, DialectRequest)
        requested.append(result)
    beat = {"group_id": "g", "consumer_id": "c", "error_code": 0}
    answer = talk.frame("response", rewrite_b("Heartbeat", 1, "response", beat))
    assert isinstance(answer, DialectResponse)
    assert answer.request is requested[1]


@pytest.mark.parametrize("name", ["rewrite-a", "rewrite-b", "rewrite-c"])
def test_kafkas_apis_stand_next_to_those_of_the_early_drafts(name: str) -> None:
    talk, client = pairing_of(dialect(name)), Dialogue("me")
    requested = talk.frame("request", client.ask(3, 0, {"topics": []})[4:])
    assert isinstance(requested, DialectRequest)
    assert (requested.api, requested.client_id) == ("Metadata", "me")
    answer = talk.frame("response", requested.correlation_id.to_bytes(4) + bytes(8))
    assert answer == DialectResponse(requested, bytes(8), "")


def test_an_error_in_the_header_next_to_the_correlation_id_is_named() -> None:
    header = Message("correlation_id" / Int64, "error_code" / Int16)
    spoken = replace(dialect("rewrite-a"), response_header=header.of("WithError", (0, 0), FOREVER))
    talk = pairing_of(spoken)
    frame = DialectFrame(
        "request", "FindCoordinator", {"correlation_id": 7}, {"client_id": "c", "group_id": "g"}
    )
    requested = talk.frame("request", encode_frame(spoken, frame)[4:])
    answer = talk.frame("response", struct.pack(">qh", 7, 25))
    assert answer == DialectResponse(requested, b"", "UnknownConsumerId")  # type: ignore[arg-type]
