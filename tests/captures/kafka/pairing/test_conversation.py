"""Test the exchanges of a capture case by case; the test of the CLI covers the whole path."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, UNREADABLE, Exchange
from barnabas.captures.kafka.frames import frames
from barnabas.captures.kafka.notes import NOT_CAPTURED, TOO_MANY
from barnabas.captures.kafka.pairing import conversation
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.specs.frames import Direction
from tests.captures.traffic import request as request
from tests.captures.traffic import response as response

MS = 1_000_000


def opened() -> Event:
    return Opened(4, 0, "127.0.0.1:5", "127.0.0.1:9092", {"client": "127.0.0.1:5", "broker": 2})


def arrived(direction: Direction, ms: int, data: bytes, *comments: dict[str, Any]) -> Event:
    return Chunk(4, "arrived", direction, ms * MS, data, comments)


def left(direction: Direction, ms: int, data: bytes, **comment: Any) -> Event:
    return Chunk(4, "left", direction, ms * MS, data, (comment,))


def closed() -> Event:
    return Closed(4, 99 * MS, False)


def read(*events: Event, strays: bool = False) -> tuple[list[Exchange], Conversations]:
    """Return the exchanges of a connection, and its counts."""
    conversations = Conversations(strays=strays)
    return list(conversations.exchanges([opened(), *events, closed()])), conversations


def exchanges(*events: Event) -> list[Exchange]:
    return read(*events)[0]


def facts(found: Iterable[Exchange]) -> list[tuple[Any, ...]]:
    return [(x.api, x.correlation_id, x.latency_ms, x.broker_ms, x.rules, x.note) for x in found]


def test_a_request_and_its_response() -> None:
    (exchange,) = exchanges(
        arrived("request", 1, request(7, topics=[])),
        arrived("response", 4, response(7, controller_id=5)),
    )
    assert facts([exchange]) == [("Metadata", 7, 3.0, 3.0, (), "")]
    assert (exchange.connection, exchange.client_address, exchange.broker) == (4, "127.0.0.1:5", 2)
    assert exchange.client_id == "me"
    assert exchange.response is not None
    assert exchange.response["controller_id"] == 5


def test_no_response_is_expected_or_none_came() -> None:
    result = exchanges(
        arrived("request", 1, request(6, key=0, version=0, acks=0)),
        arrived("request", 2, request(7)),
        arrived("request", 3, request(8), {"frame": 2, "left": "later"}),
    )
    assert facts(result) == [
        ("Produce", 6, None, None, (), "no response (acks=0)"),
        ("Metadata", 8, None, None, (), "request not forwarded: connection closed"),
        ("Metadata", 7, None, None, (), "no response: connection closed"),
    ]


def test_a_gap_costs_what_is_missing_and_what_was_begun() -> None:
    found, conversations = read(
        arrived("request", 1, request(5) + request(6) + request(7)[:10]),
        Lost(4, "arrived", "request", 2 * MS, 50),
        arrived("request", 3, b"the end of something" + request(8) + request(9)),
        arrived("response", 4, response(5)[:5]),
        Lost(4, "arrived", "response", 4 * MS, 50),
        arrived("response", 5, response(6)[-3:] + response(8) + response(9)),
    )
    assert facts(found) == [
        ("Metadata", 5, None, None, (), NOT_CAPTURED),
        ("Metadata", 6, None, None, (), NOT_CAPTURED),
        ("Metadata", 8, 2.0, 2.0, (), ""),
        ("Metadata", 9, 2.0, 0.0, (), ""),
    ]
    assert (conversations.skipped, conversations.losses) == (10 + 20 + 5 + 3, 2)
    nobodys = [arrived("request", 1, request(5)), Lost(0, "arrived", "request", MS, 0)]
    assert list(conversations.exchanges(nobodys)) == []
    assert conversations.losses == 3


def test_unknown_apis_and_stray_responses_are_counted() -> None:
    (found,), conversations = read(
        arrived("request", 1, struct.pack(">ihhihB", 11, 999, 0, 7, 1, 65)),
        arrived("response", 2, struct.pack(">ii", 4, 7)),
        arrived("response", 3, struct.pack(">ii", 4, 8)),
    )
    assert (found.api, found.latency_ms) == ("key 999", 1.0)
    assert conversations.undecoded == 2


def test_a_request_that_the_proxy_masked_completely_is_of_no_api() -> None:
    """It came after the end of the connection was decided, so the proxy did not parse it."""
    masked = struct.pack(">i", 20_000) + b"*" * 20_000
    first, unread = exchanges(arrived("request", 1, request(7)), arrived("request", 2, masked))
    assert (first.api, unread.api, unread.key) == ("Metadata", "unreadable", UNREADABLE)


def test_a_stray_is_given_where_no_request_can_have_asked_for_it() -> None:
    found, conversations = read(
        arrived("response", 1, response(1)),  # its request may be older than the capture
        arrived("request", 2, request(7)),
        arrived("response", 3, response(7)),
        arrived("response", 4, response(8)),
        arrived("response", 4, response(8), {"frame": 3, "left": "never", "note": "gone"}),
        Lost(4, "arrived", "request", 5 * MS, 9),
        arrived("response", 6, response(9)),
        strays=True,
    )
    strays = [(one.correlation_id, one.key, one.latency_ms, one.note) for one in found[1:]]
    assert strays == [(8, STRAY, 0.0, ""), (8, STRAY, None, "gone")]
    assert conversations.undecoded == 4


def test_requests_of_a_segment_that_is_not_here_are_answered() -> None:
    comment = {"waiting": [[7, 3, 1], [8, 3, 1]]}
    conversations = Conversations(strays=True)
    events = Opened(4, 0, "c:1", "s:2", comment), arrived("response", 1, response(8)), closed()
    assert list(conversations.exchanges(events)) == []
    assert (conversations.earlier, conversations.undecoded) == (1, 0)


@pytest.mark.parametrize(("said", "sent"), [({"broker": 2}, MS), ({}, None)])
def test_a_request_was_sent_when_it_came_where_two_places_are_known(
    said: dict[str, Any], sent: int | None
) -> None:
    talk = arrived("request", 1, request(7)), arrived("response", 4, response(7))
    (exchange,) = Conversations().exchanges([Opened(4, 0, "c:1", "s:2", said), *talk])
    assert exchange.sent == sent


def test_the_first_frame_of_a_connection_may_be_a_token_of_gssapi() -> None:
    token = b"\0\0\0\x10\x60" + bytes(15)
    for first, api in ((b"", "SASL token"), (request(1), "key 24576")):
        result = exchanges(arrived("request", 1, first + token))
        assert result[-1].api == api


def test_without_a_header_it_is_a_token_only_where_one_may_come() -> None:
    short = b"\0\0\0\1?"
    handshake, token = request(1, 17, 0, mechanism="GSSAPI"), b"\0\0\0\2\5\4"
    for said, first in (("unreadable", b""), ("SASL token", handshake)):
        requested = arrived("request", 0, first + (token if first else short) + request(2))
        answers = arrived("response", 1, (response(1, 17, 0) if first else b"") + response(2))
        found, conversations = read(requested, answers)
        assert [(x.api, x.note) for x in found[-2:]] == [(said, "no response"), ("Metadata", "")]
        assert conversations.undecoded == (not first)


def test_frame_by_frame() -> None:
    events = (
        opened(),
        arrived("request", 1, request(-7), {"frame": 0, "left": "later"}),
        left("request", 2, b"", frame=0, note="never"),
        left("request", 3, request(-7), frame=0),
        Lost(4, "left", "response", 3, 9),
        arrived("response", 4, response(-7)),
    )
    results = list(frames(events))
    assert [(one.flow, one.direction, one.facts) for one in results] == [
        ("arrived", "request", {"frame": 0, "left": "later"}),
        ("left", "request", {"frame": 0}),
        ("arrived", "response", {}),
    ]
    what = {"api": "Metadata", "key": 3, "version": 1, "correlation_id": -7, "client_id": "me"}
    where = {"connection": 4, "flow": "arrived", "direction": "response", "packet": 0}
    when = {"ts": "1970-01-01T00:00:00.004000Z", "size": len(response(7)) - 4, "facts": {}}
    assert results[2].row() == what | where | when


def test_of_many_requests_the_latest_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.captures.kafka.frames.LIMIT", 2)
    requested = b"".join(request(number) for number in (1, 2, 1, 3))
    answers = b"".join(response(number) for number in (1, 2, 3))
    result = frames([arrived("request", 1, requested), arrived("response", 2, answers), closed()])
    assert [one.key for one in result if one.direction == "response"] == [3, None, 3]


NO_RESPONSE = "no response: connection closed"


def test_requests_that_nobody_answers_are_given_up_one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "LIMIT", 3)
    requested = [arrived("request", at, request(at)) for at in range(6)]
    late = [arrived("response", 9, response(at)) for at in (1, 4)]
    result, _ = read(*requested, *late, strays=True)
    assert [(one.correlation_id, one.note, one.latency_ms) for one in result] == [
        *((at, TOO_MANY, None) for at in (0, 1, 2)),
        (4, "", 5.0),  # and the answer to one of those is no stray
        *((at, NO_RESPONSE, None) for at in (3, 5)),
    ]
    monkeypatch.setattr(conversation, "WAITING", len(request(0)))
    result = exchanges(*requested[:3])
    assert [one.note for one in result] == [TOO_MANY] * 2 + [NO_RESPONSE]
