"""Test the pairing of requests and responses, and the fields of an exchange."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.columns import COLUMNS
from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.captures.kafka.pairing.in_flight import Pairing, Pending
from tests.bodies import reassignments
from tests.captures.kafka.context.exchanges import exchange


def pending(correlation_id: int, *, opaque: bool = False) -> Pending:
    return Pending(correlation_id, 3, 1, "client", 20, 0, 0, opaque=opaque)


def waiting(*correlation_ids: int) -> tuple[Pairing, list[Pending]]:
    pairing = Pairing()
    sent = [pending(number) for number in correlation_ids]
    assert all(pairing.sent(one) for one in sent)
    return pairing, sent


def test_the_same_correlation_id_twice_goes_to_the_older() -> None:
    pairing, sent = waiting(5, 5)
    assert [pairing.answer(5), pairing.answer(5)] == [(one, True) for one in sent]


def test_what_left_before_a_request_that_does_not_wait_is_nothing() -> None:
    pairing, sent = waiting(5, 6)
    assert (pairing.before(7), pairing.before(6)) == ([], sent[:1])


@given(st.permutations(range(8)))
def test_every_request_is_answered_once_in_whatever_order(order: list[int]) -> None:
    pairing, sent = waiting(*range(8))
    left = list(range(8))
    for number in order:
        assert pairing.answer(number) == (sent[number], left[0] == number)
        left.remove(number)


def test_a_row_has_the_columns_in_order_and_is_json() -> None:
    one = exchange("Metadata", 1, {"topics": [{"name": "orders"}]}, {})
    one.ts, one.latency_ms, one.rules = 1_500_000_000_123_456_789, 12.34567, ("slow",)
    row = one.row()
    assert tuple(row) == tuple(one.name for one in COLUMNS)
    assert json.loads(json.dumps(row)) == row
    assert row["ts"] == "2017-07-14T02:40:00.123456Z"
    assert (row["api"], row["latency_ms"], row["rules"]) == ("Metadata", 12.346, ["slow"])
    assert (row["request"], row["error"]) == ({"topics": [{"name": "orders"}]}, "")


def test_a_short_body_that_comes_again_is_the_same() -> None:
    def asked(group: str) -> Exchange:
        who = {"group_id": group, "member_id": "m", "generation_id": 1}
        return exchange("Heartbeat", 4, who)

    one, other = asked("readers"), asked("writers")
    assert asked("readers").request is one.request is not None
    assert one.request["group_id"] == "readers"
    assert other.request != one.request
    long = "x" * 4096
    assert asked(long).request == asked(long).request
    assert asked(long).request is not asked(long).request, "memory is bounded"


def test_what_is_undecodable_says_why() -> None:
    one = exchange("Heartbeat", 0, {"group_id": "g"})
    assert one.error is None, "there is no response"
    one.response_body = b"\x00"
    assert (one.response, one.error, one.row()["response"]) == (None, None, None)
    assert one.undecodable.startswith("response: error_code at byte 0: ")


@pytest.mark.parametrize(
    ("key", "version", "name"), [(999, 0, "key 999"), (3, 99, "Metadata"), (-2, 0, "key -2")]
)
def test_an_unknown_api_or_version_is_undecodable(key: int, version: int, name: str) -> None:
    one = Exchange(0, 1, "a:1", None, None, key, version, 1, 10)
    one.request_body = one.response_body = b""
    assert (one.api, one.error, one.row()["request"]) == (name, None, None)
    assert one.undecodable


def test_a_raw_token_has_no_fields() -> None:
    one = Exchange(0, 1, "a:1", None, 1, SASL_TOKEN, 0, 0, 5)
    one.request_body, one.response_body = b"\0u\0p!", b""
    assert (one.api, one.request, one.error, one.undecodable) == ("SASL token", None, None, "")
    assert "p!" not in json.dumps(one.row())


def test_a_refused_api_versions_is_read_as_v0() -> None:
    said: dict[str, Any] = {"api_key": 18, "min_version": 0, "max_version": 3}
    one = exchange("ApiVersions", 0, None, {"error_code": 35, "api_keys": [said]})
    for version in (4, 99):
        one.version = version
        assert one.error == "UNSUPPORTED_VERSION"
    one.version = 4
    assert one.response is not None
    assert one.response["api_keys"] == [said]


def test_a_row_says_which_body_is_too_large_to_decode_or_left_out() -> None:
    one = exchange("AlterPartitionReassignments", 0, {}, {})
    one.request_body = reassignments()
    row = one.row()
    assert (row["request"], row["too_large"]) == (None, ["request"])
    assert row["response"] is not None
    assert one.undecodable.startswith("request: too large to decode")
    one = exchange("Heartbeat", 0, {"group_id": "g"}, {"error_code": 27})
    one.leave_out("response")
    row = one.row()
    assert (row["response"], row["error"], row["too_large"]) == (None, None, ["response"])


def test_a_row_has_hashes_of_payloads_that_were_taken_out() -> None:
    one = exchange("Heartbeat", 0, {"group_id": "g"}, {"error_code": 0})
    assert "payload" not in one.row()
    one.payload = {"request": {"group_id": "5feceb66"}}
    assert one.row()["payload"] == one.payload


def test_its_end_is_what_was_noted_or_when_the_response_left_or_when_it_came() -> None:
    exchange = Exchange(1_000_000, 1, "c:1", None, None, 3, 1, 7, 20)
    assert exchange.end == 1_000_000
    exchange.latency_ms = 2.5
    assert exchange.end == 3_500_000
    exchange.ended = 4_000_000
    assert exchange.end == 4_000_000
