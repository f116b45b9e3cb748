"""Test exchanges of dialects in a capture: pairing by each kind of header."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.dialect_conversations import DialectConversations, error_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.specs.dialect_frames import DialectFrame, encode_frame
from barnabas.specs.dialects import dialect
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.frames import Direction
from barnabas.specs.registry import key_of
from tests.captures.traffic import request, response

BEAT = {"group_id": "g", "consumer_id": "c"}


def message(spoken: str, direction: Direction, api: str, number: int, **body: Any) -> bytes:
    header = {"correlation_id": number}
    return encode_frame(dialect(spoken), DialectFrame(direction, api, header, body))


def exchanges(spoken: str, *frames: tuple[Direction, bytes]) -> tuple[list[Exchange], int]:
    """Return the exchanges, and the number of undecodable frames."""
    chunks = [
        Chunk(1, "arrived", direction, at, data, ()) for at, (direction, data) in enumerate(frames)
    ]
    conversations = DialectConversations(dialect(spoken))
    events: list[Event] = [Opened(1, 0, "c:1", "s:2", {}), Lost(9, "arrived", "request", 0, 5)]
    found = list(conversations.exchanges([*events, *chunks, Closed(1, 99, False)]))
    return found, conversations.undecoded


def test_responses_are_paired_by_the_header_that_each_api_has() -> None:
    found, undecoded = exchanges(
        "rewrite-b",
        ("request", message("rewrite-b", "request", "ConsumerMetadata", 0, group_id="g")),
        ("request", message("rewrite-b", "request", "Heartbeat", 1, **BEAT)),
        ("request", request(7, 3, 0, topics=[])),
        ("response", message("rewrite-b", "response", "Heartbeat", 1, **BEAT, error_code=1)),
        ("response", response(7, 3, 0)),
    )
    assert [(one.api, one.correlation_id, one.client_id, error_of(one)) for one in found] == [
        ("Heartbeat", 1, None, "OFFSET_OUT_OF_RANGE"),
        ("Metadata", 7, "me", ""),
        ("ConsumerMetadata", 0, None, None),
    ]
    assert undecoded == 0
    assert found[2].note == "no response: connection closed"


def test_a_dialect_with_kafkas_headers_is_told_by_key_and_version() -> None:
    spoken = "rewrite-0.8.2"
    found, undecoded = exchanges(
        spoken,
        ("request", message(spoken, "request", "Heartbeat", 1, **BEAT)),
        ("request", request(3, 3, 0, topics=[])),
        ("response", message(spoken, "response", "Heartbeat", 1)),
        ("response", message(spoken, "response", "Heartbeat", 2)),
    )
    beat, metadata = own_key(dialect(spoken), dialect(spoken).api("Heartbeat")), key_of("Metadata")
    assert [(one.key, one.correlation_id) for one in found] == [(beat, 1), (metadata, 3)]
    assert undecoded == 1
    assert details(found[0]) == "g generation 0 consumer c"


def test_a_request_that_can_not_be_read_waits_for_nothing() -> None:
    broken = message("rewrite-a", "request", "FindCoordinator", 1, group_id="g", client_id="c")
    cut = (len(broken) - 5).to_bytes(4) + broken[4:-1]
    assert exchanges("rewrite-a", ("request", cut)) == ([], 1)


@pytest.mark.parametrize(
    ("spoken", "api", "line"),
    [
        ("central-coordination", "StopFetcher", "of orders"),
        ("central-coordination", "RegisterConsumer", ""),
        ("rewrite-0.8.2", "Heartbeat", ""),
    ],
)
def test_a_request_to_who_has_registered_is_of_that_group(spoken: str, api: str, line: str) -> None:
    key = own_key(dialect(spoken), dialect(spoken).api(api))
    context = Context()
    context.registrations[1] = "orders"
    assert details(Exchange(0, 1, "", None, None, key, 0, 1, 10), context) == line
