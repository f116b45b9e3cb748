"""Correlation ids used again while their request waits."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from tests.captures.checks.given import exchange, found, frames, produce, whats


def metadata(at: float, took: float, answer: bool = True, **more: Any) -> Exchange:
    answered = {"brokers": [], "controller_id": 1, "topics": []} if answer else None
    return exchange("Metadata", 1, {"topics": []}, answered, at=at, took=took, **more)


def test_an_id_again_while_the_first_waits() -> None:
    both = (metadata(1, 9, correlation_id=5), metadata(2, 9, correlation_id=5))
    again = found("correlation_ids", *both)
    assert whats(again) == [
        ("error", "correlation id 5 was reused while Metadata was in flight with it")
    ]
    assert frames(again) == [[(11, 12), (21, 22)]]


def test_an_id_again_behind_the_response_is_fine() -> None:
    both = (metadata(1, 1, correlation_id=5), metadata(2, 9, correlation_id=5))
    assert found("correlation_ids", *both) == []


def test_another_connection_has_ids_of_its_own() -> None:
    both = (metadata(1, 9, correlation_id=5), metadata(2, 9, correlation_id=5, connection=2))
    assert found("correlation_ids", *both) == []


def test_a_request_that_is_never_answered_waits_for_ever() -> None:
    both = (metadata(1, 0, False, correlation_id=5), metadata(200, 9, correlation_id=5))
    assert len(found("correlation_ids", *both)) == 1


def test_acks_0_waits_for_nothing() -> None:
    sent = produce(1, ["a"], acks=0, error=None, correlation_id=5)
    assert found("correlation_ids", sent, metadata(200, 9, correlation_id=5)) == []


def test_raw_tokens_have_no_ids() -> None:
    tokens = [metadata(1, 9, correlation_id=0), metadata(2, 9, correlation_id=0)]
    for token in tokens:
        token.key = SASL_TOKEN
    assert found("correlation_ids", *tokens) == []


def test_a_produce_that_is_never_answered_waits_too() -> None:
    sent = produce(1, ["a"], error=None, correlation_id=5)
    (finding,) = found("correlation_ids", sent, produce(200, ["b"], correlation_id=5))
    assert "while Produce was in flight" in finding.what
