"""Test spans of an exchange: names, times, parents, links, errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.kafka.tracing.spans import LINKS, TOPICS, Span, spans_of
from barnabas.captures.kafka.tracing.trace_context import TraceContext
from barnabas.captures.values.record_sets import CARRIERS
from barnabas.specs.records import build
from barnabas.specs.registry import api, key_of
from tests.captures.kafka.tracing.test_trace_context import fetched, header, produced, record
from tests.places import ROOT
from tests.specs.strategies import mutated, values

MS = 1_000_000
START = 1_700_000_000_000_000_000


def carrying(*numbers: int) -> bytes:
    return build([record(at, traceparent=header(number)) for at, number in enumerate(numbers)])


def one(exchange: Exchange) -> Span:
    """Return the span of the exchange itself."""
    return spans_of(exchange, Context())[0]


def test_a_produce_is_a_child_of_its_first_record() -> None:
    span = one(produced(carrying(5, 6, 5, 7)))
    assert span.parent is not None
    assert span.parent.span_id == 5
    assert span.context.trace_id == span.parent.trace_id
    assert [link.span_id for link in span.links] == [6, 7]
    assert span.name == "Produce t0"
    assert span.attributes["messaging.operation.type"] == "send"
    assert span.attributes["messaging.batch.message_count"] == 4


def test_a_fetch_has_links_to_all() -> None:
    span = one(fetched(1, 4, carrying(5, 6)))
    assert span.parent is None
    assert [link.span_id for link in span.links] == [5, 6]
    assert span.attributes["messaging.batch.message_count"] == 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ShareFetch", "receive"), ("OffsetCommit", "settle"), ("TxnOffsetCommit", "settle"),
     ("ShareAcknowledge", "settle"), ("Metadata", None)],
)  # fmt: skip
def test_what_type_of_operation_it_is(name: str, kind: str | None) -> None:
    span = one(Exchange(0, 1, "", None, None, key_of(name), 1, 1, 12))
    assert span.attributes.get("messaging.operation.type") == kind


def test_links_are_bounded_and_more_are_counted() -> None:
    span = one(fetched(1, 4, carrying(*range(1, LINKS + 6))))
    assert len(span.links) == LINKS
    assert span.attributes["kafka.links_left_out"] == 5


def test_who_carries_nothing_begins_a_trace_of_its_own() -> None:
    exchange = produced(build([record(0)]))
    span, other = one(exchange), one(replace(exchange, ordinal=1))
    assert span.parent is None
    assert span.context == one(exchange).context
    assert span.context.trace_id != other.context.trace_id
    assert all(span.context)
    assert span.context.span_id < 1 << 64


def metadata(names: list[str], **known: Any) -> Exchange:
    body = api("Metadata").request.codec(1).encode({"topics": [{"name": name} for name in names]})
    given = {"request_body": body, "response_size": 8, **known}
    return Exchange(START, 4, "10.0.0.1:5", "me", 2, 3, 1, 9, 20, **given)


def test_what_is_said_of_an_exchange() -> None:
    exchange = metadata(
        ["orders"],
        latency_ms=7.0,
        broker_ms=4.0,
        sent=START + 2 * MS,
        rules=("slow",),
        user="alice",
        server_address="[::1]:9092",
    )
    span, broker = spans_of(exchange, Context())
    assert (span.name, span.kind, span.error) == ("Metadata orders", "client", "")
    assert (span.start, span.end) == (START, START + 7 * MS)
    assert span.attributes == {
        "messaging.system": "kafka",
        "messaging.operation.name": "Metadata",
        "messaging.destination.name": "orders",
        "messaging.client.id": "me",
        "user.name": "alice",
        "client.address": "10.0.0.1",
        "client.port": 5,
        "server.address": "::1",
        "server.port": 9092,
        "kafka.api": "Metadata",
        "kafka.version": 1,
        "kafka.correlation_id": 9,
        "kafka.connection": 4,
        "kafka.broker": 2,
        "kafka.request_size": 20,
        "kafka.response_size": 8,
        "kafka.broker_ms": 4.0,
        "kafka.rules": ("slow",),
    }
    assert (broker.name, broker.kind) == ("Metadata in the broker", "server")
    assert (broker.start, broker.end) == (START + 2 * MS, START + 6 * MS)
    assert broker.parent == span.context
    assert broker.context.trace_id == span.context.trace_id
    assert 0 < broker.context.span_id < 1 << 64


def test_the_broker_begins_when_it_has_answered_what_came_before() -> None:
    known = {"latency_ms": 7.0, "broker_ms": 1.0, "sent": START, "begun": START + 3 * MS}
    _, broker = spans_of(metadata([], **known), Context())
    assert (broker.start, broker.end) == (START + 3 * MS, START + 4 * MS)


@pytest.mark.parametrize("sent", [None, 0])
def test_what_nobody_knows_of_the_broker_is_no_span(sent: int | None) -> None:
    exchange = metadata([], sent=sent, broker_ms=4.0 if sent is None else None, latency_ms=4.0)
    assert len(spans_of(exchange, Context())) == 1


def test_several_topics_are_listed_and_name_no_span() -> None:
    names = [f"t{number:03}" for number in range(TOPICS + 2)]
    span = one(metadata(names))
    assert span.name == "Metadata"
    assert span.attributes["kafka.topics"] == tuple(names[:TOPICS])
    assert span.attributes["kafka.topics_left_out"] == 2
    assert "messaging.destination.name" not in span.attributes
    assert one(metadata(["a", "b"])).attributes["kafka.topics"] == ("a", "b")


@pytest.mark.parametrize(
    ("known", "error", "kind"),
    [
        ({}, "", None),
        ({"response_size": None, "note": UNANSWERED}, "", None),
        ({"response_size": None, "note": "no response: connection closed"}, "no", "no_response"),
        ({"response_size": None}, "no response", "no_response"),
    ],
)
def test_who_got_no_response_has_failed(
    known: dict[str, Any], error: str, kind: str | None
) -> None:
    span = one(metadata([], **known))
    assert span.error.startswith(error)
    assert bool(span.error) == bool(error)
    assert span.attributes.get("error.type") == kind


def test_the_first_error_of_a_response_is_that_of_the_span() -> None:
    body = api("Heartbeat").response.codec(0).encode({"error_code": 27})
    exchange = Exchange(START, 1, "", None, None, 12, 0, 1, 9, 2, response_body=body)
    span = one(exchange)
    assert span.error == span.attributes["error.type"] == "REBALANCE_IN_PROGRESS"
    assert span.attributes["kafka.error"] == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize("name", ["embedded", "faults", "kip-848", "transactions", "wrong"])
def test_those_of_a_capture_have_ids_of_their_own_and_stand_within_each_other(name: str) -> None:
    (path,) = (ROOT / "captures" / "samples").glob(f"{name}.pcap*")
    capture = open_capture(Path(path))
    found = [spans_of(each, capture.context) for each in capture.learn(capture.exchanges())]
    contexts = [span.context for spans in found for span in spans]
    assert len(set(contexts)) == len(contexts) > 10
    for span, *rest in found:
        assert span.start <= span.end
        assert all(span.start <= inner.start <= inner.end <= span.end for inner in rest)


@pytest.mark.parametrize("key", sorted(CARRIERS))
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_body_makes_it_raise(key: int, data: st.DataObject) -> None:
    declared = api(key)
    version = data.draw(st.integers(*declared.versions))
    found = Exchange(0, 1, "", "\ud800" * 300, None, key, version, 1, 10)
    for side in ("request", "response"):
        message = declared.message(side)
        body = message.codec(version).encode(data.draw(values(message.layout(version))))
        if data.draw(st.booleans()):
            body = data.draw(mutated(body))
        setattr(found, f"{side}_body", body)
    for span in spans_of(found, Context()):
        assert span.end >= span.start
        assert all(isinstance(link, TraceContext) for link in span.links)
