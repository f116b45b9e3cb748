"""Exchanges as rows: what the columns say, and that nothing is lost on the way back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.pipeline.rows.body_columns.registry import MADE, TYPED_COLUMNS
from barnabas.pipeline.rows.columns import EXCHANGES, RAW
from barnabas.pipeline.rows.exchanges import LATEST, batch, exchange, row
from barnabas.specs.registry import api
from tests.pipeline.given import hot, said, sample
from tests.samples.recipes import SAMPLES
from tests.specs.strategies import mutated, values

ALL = tuple(column.name for column in (*EXCHANGES, *RAW))


@pytest.mark.parametrize("name", [name for name, _ in SAMPLES])
def test_the_exchanges_of_a_capture_come_back_from_an_arrow_batch(name: str) -> None:
    results = list(sample(name, strays=True))
    rows = [row(one, context, capture=name, columns=ALL) for one, context in results]
    again = batch(rows, (*EXCHANGES, *RAW)).to_pylist()
    assert rows == again
    for (one, _), back in zip(results, map(exchange, again), strict=True):
        # with the fields that equality leaves out, but those which only a log's lines and the page go by
        unseen = replace(one, ended=0, sent=None, request_left=None, response_came=None)
        assert repr(back) == repr(unseen)


@pytest.mark.parametrize("name", [name for name, _ in SAMPLES])
def test_each_column_is_the_same_whatever_else_is_asked_for(name: str) -> None:
    for one, context in sample(name):
        whole = row(one, context)
        assert list(whole) == [column.name for column in EXCHANGES]
        for column, value in whole.items():
            assert row(one, context, columns=(column,)) == {column: value}


def test_what_is_decoded_as_a_whole_gives_the_same_columns_as_single_fields() -> None:
    requested = {"topic_data": [{"name": "t", "partition_data": [{"index": 1, "records": b""}]}]}
    reported = {"index": 1, "base_offset": 5, "error_code": 3}
    answered = {"responses": [{"name": "t", "partition_responses": [reported]}]}
    for broken in (False, True):  # what stands behind a field may be unreadable
        apart, whole = (said("Produce", 8, requested, answered) for _ in range(2))
        for one in (apart, whole):
            one.response_body = (one.response_body or b"")[: -4 if broken else None]
        result = row(whole)
        assert bool(result.pop("undecodable")) is broken
        assert row(apart, columns=tuple(result)) == result
        assert (result["error_codes"], result["partitions"][0]["offset"]) == ([3], 5)


def test_columns_that_need_no_body_decode_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("a body was read")

    requested = said("Heartbeat", 4, {"group_id": "g"}, {"error_code": 27})
    monkeypatch.setattr("barnabas.specs.codec.Codec.decode", never)
    monkeypatch.setattr("barnabas.specs.codec.Codec.project", never)
    needs = {*MADE, "group", "transactional_id", "error", "error_codes", "undecodable", "seen"}
    plain = [name for name in ALL if name not in needs]
    assert row(requested, Context(), columns=plain)["api"] == "Heartbeat"


def test_what_stands_in_the_envelope() -> None:
    result = Exchange(
        *(1_500_000_000_123_456_789, 3, "10.0.0.1:5000", "me", None, 12, 1, 9, 20, 10),
        latency_ms=1.25,
        rules=("slow",),
    )
    reported = row(result, capture="a", software="librdkafka 2.16.1")
    assert reported["ts"] == datetime(2017, 7, 14, 2, 40, 0, 123456, UTC)
    assert (reported["ts_ns"], reported["day"]) == (1_500_000_000_123_456_789, date(2017, 7, 14))
    assert reported["end_ns"] == 1_500_000_000_124_706_789
    assert (reported["capture"], reported["software"]) == ("a", "librdkafka 2.16.1")
    assert (reported["rules"], reported["error"], reported["undecodable"]) == (["slow"], None, None)
    assert row(result, end_ns=5)["end_ns"] == 5


def test_when_what_has_no_response_was_over() -> None:
    def end(note: str) -> int | None:
        return row(Exchange(7, 1, "", None, None, 0, 9, 1, 20, note=note))["end_ns"]  # type: ignore[no-any-return]

    assert end("no response (acks=0)") == 7
    assert end("no response: connection closed") is None


def test_a_broken_clock_fits() -> None:
    result = row(Exchange(1 << 70, 1, "", None, None, 3, 0, 0, 0), columns=("ts", "ts_ns", "day"))
    assert result["ts_ns"] == LATEST
    assert batch([result], EXCHANGES[:3]).to_pylist() == [result]


def test_the_broker_that_follows_from_addresses() -> None:
    context = Context()
    brokers = [{"node_id": 7, "host": "10.0.0.2", "port": 9092, "rack": None}]
    context.learn(said("Metadata", 1, {"topics": None}, {"brokers": brokers}))
    requested = said("Heartbeat", 4, {"group_id": "g"})
    requested.broker, requested.server_address = None, "10.0.0.2:9092"
    result = row(requested, context, columns=("broker", "named_broker"))
    assert result == {"broker": 7, "named_broker": None}


def test_all_error_codes_are_told_in_order() -> None:
    partitions = [
        {"partition_index": number, "error_code": code}
        for number, code in enumerate((27, 0, 3, 27))
    ]
    topics = [{"name": "orders", "partitions": partitions}]
    result = row(said("OffsetCommit", 8, {"group_id": "g"}, {"topics": topics}))
    assert (result["error"], result["error_codes"]) == ("REBALANCE_IN_PROGRESS", [3, 27])
    fine = row(said("OffsetCommit", 8, {"group_id": "g"}, {"topics": []}))
    assert (fine["error"], fine["error_codes"]) == ("", [])
    none = row(said("OffsetCommit", 8, {"group_id": "g"}))
    assert (none["error"], none["error_codes"]) == (None, None)


def test_raw_tokens_and_apis_that_nobody_knows() -> None:
    token = row(Exchange(0, 1, "", None, None, SASL_TOKEN, 0, 0, 5), Context())
    assert (token["api"], token["undecodable"], token["topics"]) == ("SASL token", None, None)
    unknown = row(Exchange(0, 1, "", None, None, 9999, 0, 0, 5, request_body=b"abc"), Context())
    assert (unknown["api"], unknown["topics"]) == ("key 9999", None)
    assert unknown["undecodable"].startswith("request: ")


def test_what_cannot_be_decoded_says_why() -> None:
    requested = said("Heartbeat", 4, {"group_id": "g", "member_id": "m"}, {"error_code": 0})
    requested.request_body = (requested.request_body or b"")[:1]
    result = hot(requested, Context())
    assert result.pop("undecodable").startswith("request: group_id")
    assert result == {}


@pytest.mark.slow("a long property")
@pytest.mark.parametrize("key", TYPED_COLUMNS)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_body_makes_it_raise(key: int, data: st.DataObject) -> None:
    low, high = api(key).versions
    version = data.draw(st.integers(low, high))
    result = Exchange(0, 1, "", None, None, key, version, 1, 10)
    declared = api(key)
    sent = data.draw(values(declared.request.layout(version)))
    came = data.draw(values(declared.response.layout(version)))
    result.request_body = declared.request.codec(version).encode(sent)
    result.response_body = declared.response.codec(version).encode(came)
    if data.draw(st.booleans()):
        result.request_body = data.draw(mutated(result.request_body))
        result.response_body = data.draw(mutated(result.response_body))
    context = Context()
    context.learn(result)
    reported = row(result, context)
    assert batch([reported], EXCHANGES).to_pylist() == [reported]
    assert reported["partitions"] is not None
