"""Test for responses out of order or without a request, and requests without a response."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import NOT_CAPTURED
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from tests.captures.checks.given import (
    Body,
    descriptions,
    evidence_packets,
    exchange,
    findings_of,
    produce,
)
from tests.captures.traffic import request, response

GAP: dict[str, Any] = {"losses": 1}
UNANSWERED: dict[str, Any] = {"error": None, "connection": 1}


def metadata(at: float, took: float = 1, *, answer: bool = True, **more: Any) -> Exchange:
    """Make a Metadata; answer False: without a response."""
    answered: Body | None = {"topics": []} if answer else None
    return exchange("Metadata", 1, {"topics": []}, answered, at=at, took=took, **more)


CASES = {
    "in order": (0, [metadata(1), metadata(2, 5), metadata(3, 5), metadata(4)]),
    "other connections": (0, [metadata(2), metadata(1, 9, connection=2)]),
    "at the same moment": (0, [metadata(2, 1), metadata(1, 2)]),
    "passed over in a gap": (0, [metadata(1, answer=False), metadata(2, losses=1)]),
    "missing in a gap": (0, [metadata(2), metadata(1, answer=False, losses=1)]),
    "cut off by the end": (0, [metadata(1), metadata(2, answer=False)]),
    "numbered anew behind a gap": (0, [metadata(2), metadata(1, 9, **GAP)]),
    "both behind a gap": (
        1, [metadata(2), metadata(1, 9, **GAP), metadata(6, 1, **GAP), metadata(5, 9, **GAP)],
    ),
    "acks=0": (0, [metadata(2), produce(1, ["a"], acks=0, **UNANSWERED)]),
    "acks=1": (1, [metadata(2), produce(1, ["a"], acks=1, **UNANSWERED)]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("responses", *exchanges)) == findings


def test_a_response_behind_that_to_a_later_request() -> None:
    late = findings_of("responses", metadata(2, 1), metadata(1, 9))
    what = "the response to Metadata came after the response to a later Metadata"
    assert (descriptions(late), evidence_packets(late)) == (
        [("error", what)],
        [[(11, 12), (21, 22)]],
    )


def test_at_the_same_moment_the_order_in_one_packet_counts() -> None:
    later, earlier = metadata(2, 1), metadata(1, 2)
    later.response_packet = earlier.response_packet = 30
    assert len(findings_of("responses", later, earlier)) == 1


def test_a_request_that_was_passed_over() -> None:
    what = "Metadata got no response, though a later request on its connection did"
    assert descriptions(findings_of("responses", metadata(2), metadata(1, answer=False))) == [
        ("error", what)
    ]
    before = findings_of("responses", metadata(1, answer=False), metadata(2), metadata(3))
    assert evidence_packets(before) == [[(11,), (21, 22)]]


OPENED = Opened(4, 0, "127.0.0.1:5", "127.0.0.1:9092", {})


def chunk(direction: Any, ms: int, data: bytes) -> Chunk:
    return Chunk(4, "arrived", direction, ms * MS, data, (), ms)


ASKED = chunk("request", 1, request(7, topics=[]))
ANSWERED = chunk("response", 2, response(7))
STRAY = chunk("response", 3, response(8))


CASES2 = {
    "nobody asked for it": ((ASKED, ANSWERED, STRAY), [3]),
    "the capture may have begun in between": ((STRAY, ASKED, ANSWERED), []),
    "gap": ((ASKED, ANSWERED, Lost(4, "arrived", "request", 3 * MS, 99), STRAY), []),
}


@pytest.mark.parametrize(("chunks", "packets"), CASES2.values(), ids=CASES2)
def test_a_response_without_a_request(chunks: tuple[Event, ...], packets: list[int]) -> None:
    events = (OPENED, *chunks, Closed(4, 99 * MS, False))
    findings = findings_of("responses", *Conversations(strays=True).exchanges(iter(events)))
    what = "a response with correlation id 8 belongs to no request in flight"
    assert descriptions(findings) == [("error", what)] * len(packets)
    assert [finding.evidence[0].packets[0] for finding in findings] == packets


def test_a_response_that_stood_in_a_gap_is_not_missed() -> None:
    later = chunk("request", 2, request(8, topics=[])), chunk("response", 4, response(8))
    gap = Lost(4, "arrived", "response", 3 * MS, 99)
    events: list[Event] = [OPENED, ASKED, later[0], gap, later[1]]
    exchanges = list(Conversations(strays=True).exchanges(events))
    assert [(one.correlation_id, one.note) for one in exchanges] == [(7, NOT_CAPTURED), (8, "")]
    assert findings_of("responses", *exchanges) == []
