"""Test for correlation ids reused while their request is in flight."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from tests.captures.checks.given import descriptions, evidence_packets, findings_of, produce
from tests.captures.checks.test_responses import metadata


def unanswered(acks: int) -> Exchange:
    return produce(1, ["a"], acks=acks, error=None, correlation_id=5)


def token(at: float) -> Exchange:
    one = metadata(at, 9, correlation_id=0)
    one.key = SASL_TOKEN
    return one


AGAIN = metadata(200, 9, correlation_id=5)


CASES = {
    "answered": (0, [metadata(1, correlation_id=5), metadata(2, 9, correlation_id=5)]),
    "another connection": (
        0, [metadata(1, 9, correlation_id=5), metadata(2, 9, correlation_id=5, connection=2)],
    ),
    "waits for ever": (1, [metadata(1, answer=False, correlation_id=5), AGAIN]),
    "a Produce waits for ever": (1, [unanswered(-1), AGAIN]),
    "acks=0 waits for nothing": (0, [unanswered(0), AGAIN]),
    "raw tokens have no ids": (0, [token(1), token(2)]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("correlation_ids", *exchanges)) == findings


def test_an_id_again_while_the_first_waits() -> None:
    again = findings_of(
        "correlation_ids", metadata(1, 9, correlation_id=5), metadata(2, 9, correlation_id=5)
    )
    what = "correlation id 5 was reused while Metadata was in flight with it"
    assert (descriptions(again), evidence_packets(again)) == (
        [("error", what)],
        [[(11, 12), (21, 22)]],
    )
