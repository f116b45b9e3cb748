"""Test how a proxy's capture shows frames that left later, changed or never."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.frames import frames
from barnabas.captures.kafka.notes import WAITS, WITHHELD_UNNAMED
from tests.captures.kafka.pairing.test_conversation import (
    MS,
    arrived,
    exchanges,
    facts,
    left,
    opened,
    read,
    request,
    response,
)


def test_what_is_under_way_is_told_as_it_stands() -> None:
    conversations = Conversations()
    known: list[list[tuple[Any, ...]]] = []
    for event in (
        opened(),
        arrived("request", 1, request(7), {"offset": 0, "frame": 0, "left": "later"}),
        arrived("request", 2, request(8)),
        left("request", 3, request(7), offset=0, frame=0),
        arrived("response", 4, response(8), {"offset": 0, "frame": 0, "left": "later"}),
        left("response", 6, response(8), offset=0, frame=0),
        arrived("response", 7, response(7)),
    ):
        list(conversations.event(event))
        known.append(
            [(x.correlation_id, x.sent, x.received, x.note) for x in conversations.under_way()]
        )
    second, held = (8, 2 * MS, None, ""), (8, 2 * MS, 4 * MS, WAITS)
    assert known == [
        [],
        [(7, 0, None, WAITS)],
        [(7, 0, None, WAITS), second],
        [second, (7, 3 * MS, None, "")],
        [(7, 3 * MS, None, ""), held],
        [(7, 3 * MS, None, "")],
        [],
    ]


def test_what_left_later_or_changed_is_what_the_client_saw() -> None:
    (exchange,) = exchanges(
        arrived("request", 1, request(7), {"frame": 0, "rules": ["a"], "left": "later"}),
        left("request", 3, request(7), frame=0, rules=["a"]),
        arrived("response", 4, response(7, controller_id=5), {"frame": 0, "left": "changed"}),
        left("response", 6, response(7, controller_id=6), frame=0, rules=["b"]),
    )
    assert facts([exchange]) == [("Metadata", 7, 5.0, 1.0, ("a", "b"), "")]
    assert exchange.response is not None
    assert exchange.response["controller_id"] == 6


def test_a_withheld_response_of_an_earlier_version_whose_correlation_id_is_hidden() -> None:
    """The capture only shows its size: it answers the first request in flight."""
    never = {"frame": 1, "left": "never", "note": WITHHELD_UNNAMED}
    starred = response(8)[:4] + b"*" * (len(response(8)) - 4)
    found, conversations = read(
        arrived("request", 1, request(7) + request(8)),
        arrived("response", 3, response(7)),
        arrived("response", 4, b"", never),
        arrived("response", 4, starred + starred),
        strays=True,
    )
    assert facts(found) == [
        ("Metadata", 7, 2.0, 2.0, (), ""),
        ("Metadata", 8, None, 1.0, (), WITHHELD_UNNAMED),
    ]
    assert conversations.undecoded == 0
    assert exchanges(arrived("response", 1, starred, never | {"frame": 0})) == []


def test_a_broker_begins_when_it_has_sent_what_came_before() -> None:
    (exchange,) = exchanges(
        arrived("request", 1, request(7)),
        arrived("response", 6, response(7), {"frame": 0, "begun": 2 * MS}),
    )
    assert facts([exchange]) == [("Metadata", 7, 5.0, 4.0, (), "")]


def test_what_never_left() -> None:
    note = "request dropped by a rule"
    comment = {"frame": 0, "rules": ["lossy"], "left": "never", "note": note}
    found = exchanges(
        arrived("request", 1, request(7), comment),
        arrived("request", 2, request(8)),
        arrived("response", 3, response(8), {"frame": 0, "left": "never", "note": "gone"}),
    )
    assert facts(found) == [
        ("Metadata", 7, None, None, ("lossy",), note),
        ("Metadata", 8, None, 1.0, (), "gone"),
    ]


def test_an_answer_of_the_proxy() -> None:
    comment = {"frame": 0, "left": "never", "note": "answered by the proxy"}
    (exchange,) = exchanges(
        arrived("request", 1, request(7, key=18, version=0), comment),
        left("response", 2, response(7, key=18, version=0, error_code=35), frame=-1),
    )
    assert facts([exchange]) == [("ApiVersions", 7, 1.0, None, (), "answered by the proxy")]
    assert exchange.error == "UNSUPPORTED_VERSION"


def test_what_was_to_leave_later_and_never_did() -> None:
    events = [
        arrived("request", 1, request(6), {"frame": 0, "rules": ["a"], "left": "later"}),
        arrived("request", 2, request(7), {"frame": 1, "rules": ["a"], "left": "later"}),
        arrived("request", 3, request(8)),
        arrived("response", 4, response(8), {"frame": 0, "left": "later"}),
        left("request", 5, b"", frame=0, left="never", note="dropped"),
        left("request", 6, b"", frame=1, left="never", note="answered by the proxy"),
        left("response", 7, b"", frame=0, left="never", note="gone"),
        left("response", 8, response(7, controller_id=6), frame=-1),
    ]
    found = exchanges(*events)
    assert facts(found) == [
        ("Metadata", 6, None, None, ("a",), "dropped"),
        ("Metadata", 8, None, 1.0, (), "gone"),
        ("Metadata", 7, 6.0, None, ("a",), "answered by the proxy"),
    ]
    assert [(frame.flow, frame.correlation_id) for frame in frames(iter([opened(), *events]))] == [
        *(("arrived", number) for number in (6, 7, 8, 8)),
        ("left", 7),
    ]


@pytest.mark.parametrize("number", [None, [], {}, "0", 1.5, 9, -1])
def test_what_no_proxy_says_of_a_frame_that_never_left_is_passed_over(number: Any) -> None:
    found = exchanges(
        arrived("request", 1, request(7), {"frame": 0, "left": "later"}),
        left("response", 1, response(6), frame=number),
        arrived("response", 1, b"", {"frame": number, "note": "x"}),
        left("request", 2, b"", frame=number, left="never", note=["x"]),
        left("response", 2, b"", frame=number, left="never"),
        left("request", 3, request(7), frame=0),
        arrived("response", 4, response(7)),
    )
    assert facts(found) == [("Metadata", 7, 3.0, 1.0, (), "")]


def test_of_what_was_changed_the_other_form_is_kept() -> None:
    """A request that left at once and one that left later, a response, and one that is the same."""
    asked, sent = request(7, topics=[{"name": "a"}]), request(7, topics=[{"name": "b"}])
    for how in "changed", "later":
        (exchange,) = exchanges(
            arrived("request", 1, asked, {"frame": 0, "rules": ["x"], "left": how}),
            left("request", 2, sent, frame=0, rules=["x"]),
            arrived("response", 4, response(7, controller_id=5), {"frame": 0, "left": "changed"}),
            left("response", 4, response(7, controller_id=6), frame=0),
        )
        assert exchange.request is not None
        assert exchange.request["topics"] == [{"name": "a"}]
        other = replace(
            exchange, request_body=exchange.request_left, response_body=exchange.response_came
        )
        assert other.request is not None
        assert other.request["topics"] == [{"name": "b"}]
        assert other.response is not None
        assert other.response["controller_id"] == 5
        assert exchange.weight > exchange.weight - len(exchange.request_left or b"") > 0
    for how, form in ("later", asked), ("at once", sent):
        (same,) = exchanges(
            arrived("request", 1, asked, {"frame": 0, "rules": ["slow"], "left": how}),
            left("request", 2, form, frame=0, rules=["slow"]),
            arrived("response", 4, response(7)),
        )
        assert (same.request_left, same.response_came) == (None, None)
