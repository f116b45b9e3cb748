from __future__ import annotations

import uuid

import pytest

from barnabas.proxy.matching.message import Message, Unable
from barnabas.specs import api
from barnabas.specs.frames import Direction
from tests.bodies import reassignments
from tests.proxy.faults.given import message as encoded

NAMELESS = [{"topic_id": uuid.UUID(int=1)}]


def message(direction: Direction, key: int, version: int, body: bytes | None) -> Message:
    return Message(direction, key, version, "app", 1, 0, 0, None, 100, body)


def test_fields_are_the_json_form() -> None:
    protocols = [{"name": "range", "metadata": b"abc"}]
    fields = encoded("JoinGroup", version=5, group_id="g", protocols=protocols).fields()
    assert fields is not None
    assert fields["group_id"] == "g"
    assert fields["protocols"] == [{"name": "range", "metadata": "YWJj"}]


@pytest.mark.parametrize(
    ("key", "version", "body"),
    [(11, 5, None), (11, 5, b"\xff"), (11, 99, b""), (999, 0, b""), (11, -1, b"")],
)
def test_what_cannot_be_read_has_no_fields(key: int, version: int, body: bytes | None) -> None:
    assert message("request", key, version, body).fields() is None


def test_what_is_named_is_looked_for_once() -> None:
    one = encoded("OffsetCommit", "response", 7, topics=[{"name": "t", "partitions": [{}]}])
    assert one.names("topic") is one.names("topic")
    assert one.partitions() is one.partitions()
    assert one.errors() is one.errors()
    assert (one.names("topic"), one.errors(), len(one.partitions())) == ({"t"}, {0}, 1)


@pytest.mark.parametrize("body", [b"\0\1g" + bytes(6), None])
def test_a_request_has_no_errors_and_what_was_not_collected_neither(body: bytes | None) -> None:
    assert (
        message("request", 12, 0, body).errors() == set()
    )  # a response of these bytes has error 1
    assert message("response", 12, 0, None).errors() == set()
    assert message("response", 12, 0, b"\0\1").errors() == {1}


def test_a_refused_api_versions_has_the_layout_of_v0() -> None:
    refused = {"error_code": 35, "api_keys": [{"api_key": 18, "min_version": 0, "max_version": 4}]}
    body = api("ApiVersions").response.codec(0).encode(refused)
    fields = message("response", 18, 4, body).fields()
    assert fields is not None
    assert fields["error_code"] == 35


def test_a_body_that_is_too_large_says_so_and_cannot_be_changed() -> None:
    one = message("request", 45, 0, reassignments())
    assert one.fields("topics") is None
    assert one.too_large.startswith("too large to decode")
    assert one.fields("timeout_ms") == {"timeout_ms": 0}
    with pytest.raises(Unable, match="too large to decode"):
        one.values()
    one.become(reassignments(10), None, "smaller")
    assert one.too_large == ""


def test_another_message_in_its_place_is_read_anew() -> None:
    one = encoded("Produce", version=7, acks=1, topic_data=[{"name": "a"}])
    one.acks = 1
    other = encoded("Produce", version=7, acks=0, topic_data=[{"name": "b"}])
    assert (one.names("topic"), (one.fields() or {})["acks"]) == ({"a"}, 1)
    one.become(other.body or b"", None, "edit")
    assert (one.names("topic"), (one.fields() or {})["acks"], one.acks) == ({"b"}, 0, 0)
    assert (one.changed, one.size, one.frame[4:]) == (
        ("edit",),
        other.size,
        other.head + (other.body or b""),
    )
    one.become(b"?", b"head", "replace")
    assert (one.head, one.size, one.frame) == (b"head", 5, b"\0\0\0\5head?")


def test_a_topic_without_a_name_is_one_no_longer_when_another_message_stands_there() -> None:
    one = encoded("Fetch", version=13, topics=NAMELESS)
    assert (one.names("topic"), str(one.unclear("topic"))) == (set(), "topic ID not yet resolved")
    one.become(encoded("Fetch", version=13).body or b"", None, "edit")
    assert one.unclear("topic") is None


def test_what_was_decoded_is_let_go() -> None:
    one = message("request", 45, 0, reassignments(10))
    first = one.fields()
    assert one.fields() is first, "it is decoded once"
    one.forget()
    assert one.fields() == first
    assert one.fields() is not first
