"""Responses out of order, without a request, and requests that were passed over."""

from __future__ import annotations

from typing import Any

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import NOT_CAPTURED
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from tests.captures.checks.given import exchange, found, frames, produce, whats
from tests.captures.kafka.pairing.test_conversation import request, response

METADATA: dict[str, Any] = {"topics": []}
ANSWER: dict[str, Any] = {"brokers": [], "controller_id": 1, "topics": []}


def metadata(at: float, took: float = 1, *, answer: bool = True, **more: Any) -> Exchange:
    return exchange("Metadata", 1, METADATA, ANSWER if answer else None, at=at, took=took, **more)


def test_in_order_is_fine() -> None:
    assert found("responses", metadata(1), metadata(2, 5), metadata(3, 5), metadata(4)) == []


def test_a_response_behind_that_to_a_later_request() -> None:
    late = found("responses", metadata(2, 1), metadata(1, 9))
    assert whats(late) == [
        ("error", "the response to Metadata came after the response to a later Metadata")
    ]
    assert frames(late) == [[(11, 12), (21, 22)]]


def test_other_connections_have_an_order_of_their_own() -> None:
    assert found("responses", metadata(2, 1), metadata(1, 9, connection=2)) == []


def test_at_the_same_moment_only_the_order_in_one_packet_counts() -> None:
    later, earlier = metadata(2, 1), metadata(1, 2)
    assert found("responses", later, earlier) == []
    later.response_packet = earlier.response_packet = 30
    assert len(found("responses", later, earlier)) == 1


def test_a_request_that_was_passed_over() -> None:
    findings = found("responses", metadata(2), metadata(1, answer=False))
    assert whats(findings) == [
        ("error", "Metadata got no response, though a later request on its connection did")
    ]


def test_a_request_that_was_taken_out_before_a_later_one_was_answered() -> None:
    findings = found("responses", metadata(1, answer=False), metadata(2), metadata(3))
    assert frames(findings) == [[(11,), (21, 22)]]
    assert found("responses", metadata(1, answer=False), metadata(2, losses=1)) == []


def test_a_request_that_was_cut_off_by_the_end_is_none() -> None:
    assert found("responses", metadata(1), metadata(2, answer=False)) == []


def test_what_is_missing_where_the_capture_has_a_gap_was_not_passed_over() -> None:
    assert found("responses", metadata(2), metadata(1, answer=False, losses=1)) == []


def test_behind_a_gap_requests_are_numbered_anew() -> None:
    gap: dict[str, Any] = {"losses": 1}
    assert found("responses", metadata(2, 1), metadata(1, 9, **gap)) == []
    again = metadata(6, 1, **gap), metadata(5, 9, **gap)
    assert len(found("responses", metadata(2, 1), metadata(1, 9, **gap), *again)) == 1


def test_acks_0_has_no_response() -> None:
    asked: dict[str, Any] = {"error": None, "connection": 1}
    assert found("responses", metadata(2), produce(1, ["a"], acks=0, **asked)) == []
    assert len(found("responses", metadata(2), produce(1, ["a"], acks=1, **asked))) == 1


def strays(*chunks: Event) -> list[tuple[str, str, int]]:
    opened = Opened(4, 0, "127.0.0.1:5", "127.0.0.1:9092", {})
    events = (opened, *chunks, Closed(4, 99 * MS, False))
    exchanges = Conversations(strays=True).exchanges(iter(events))
    return [
        (finding.severity, finding.what, finding.evidence[0].packets[0])
        for finding in found("responses", *exchanges)
    ]


def chunk(direction: Any, ms: int, data: bytes) -> Chunk:
    return Chunk(4, "arrived", direction, ms * MS, data, (), ms)


def test_a_response_that_nobody_asked_for() -> None:
    asked = (chunk("request", 1, request(7, topics=[])), chunk("response", 2, response(7)))
    stray = chunk("response", 3, response(8))
    what = "a response with correlation id 8 belongs to no request in flight"
    assert strays(*asked, stray) == [("error", what, 3)]
    # the capture may have begun between a request and its response
    assert strays(stray, *asked) == []
    assert strays(*asked, Lost(4, "arrived", "request", 3 * MS, 99), stray) == []


def test_a_response_that_stood_in_a_gap_is_not_missed() -> None:
    later = chunk("request", 2, request(8, topics=[])), chunk("response", 4, response(8))
    gap = Lost(4, "arrived", "response", 3 * MS, 99)
    asked = chunk("request", 1, request(7, topics=[]))
    exchanges = list(
        Conversations(strays=True).exchanges(
            [Opened(4, 0, "127.0.0.1:5", "127.0.0.1:9092", {}), asked, later[0], gap, later[1]]
        )
    )
    assert [(one.correlation_id, one.note) for one in exchanges] == [(7, NOT_CAPTURED), (8, "")]
    assert found("responses", *exchanges) == []


def test_strays_are_given_only_where_they_are_asked_for() -> None:
    opened = Opened(4, 0, "127.0.0.1:5", "127.0.0.1:9092", {})
    events = (
        *(opened, chunk("request", 1, request(7, topics=[]))),
        *(chunk("response", 2, response(7)), chunk("response", 3, response(8))),
    )
    conversations = Conversations()
    assert [one.api for one in conversations.exchanges(iter(events))] == ["Metadata"]
    assert conversations.undecoded == 1
    assert [one.api for one in Conversations(strays=True).exchanges(iter(events))] == [
        "Metadata",
        "stray response",
    ]
