from __future__ import annotations

import random

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.experiments.explore.recording import RecordedExchange, Step, recorded, steps
from barnabas.proxy.connection.dispatch import ANSWERED


def one(ts: int, client: str | None, api: str, latency_ms: float | None = 1.0) -> RecordedExchange:
    return RecordedExchange(
        ts=ts * 1_000_000, client_id=client, broker=1, api=api, latency_ms=latency_ms, error=""
    )


def test_an_exchange_is_the_nth_of_its_client_and_api_whichever_broker_it_goes_to() -> None:
    exchanges = [
        one(1, "a", "Metadata"),
        one(2, "a", "Produce"),
        one(3, "b", "Produce"),
        one(4, "a", "Produce").model_copy(update={"broker": 2}),
    ]
    expected = (
        Step(1, "a", "Metadata", 0, 0),
        Step(2, "a", "Produce", 0, 0),
        Step(3, "b", "Produce", 0, 0),
        Step(4, "a", "Produce", 1, 1),
    )
    assert steps(exchanges, "run").steps == expected
    random.Random(1).shuffle(exchanges)  # they are done in another order than they began
    assert steps(exchanges, "run").steps == expected


def test_responses_are_counted_in_the_order_in_which_they_leave() -> None:
    exchanges = [one(1, "a", "Fetch", 9.0), one(2, "a", "Fetch", None), one(3, "a", "Fetch", 1.0)]
    assert [(step.request, step.response) for step in steps(exchanges, "run").steps] == [
        (0, 1),
        (1, None),
        (2, 0),
    ]


def test_a_token_in_a_client_id_is_a_star_and_meets_whom_it_meets() -> None:
    exchanges = [one(1, "a-x", "Fetch"), one(2, "a-5f3a", "Fetch"), one(3, "a[0]", "Fetch")]
    assert [(step.client, step.request) for step in steps(exchanges, "5f3a").steps] == [
        ("a-x", 0),
        ("a-*", 1),  # the glob meets a-x as well: that one is before it
        ("a[[]0]", 0),
    ]


def test_what_no_rule_can_meet_is_counted() -> None:
    exchanges = [
        one(1, None, "Fetch"),
        one(2, "a", "ApiVersions").model_copy(update={"ruled": False}),
        one(3, "a", "ApiVersions"),
    ]
    found = steps(exchanges, "run")
    assert found.steps == (Step(3, "a", "ApiVersions", 0, 0),)
    assert found.left_out == {"without a client id": 1, "to which rules do not apply": 1}


def test_of_an_exchange_its_columns_and_its_error_are_kept() -> None:
    heartbeat = Exchange(
        ts=5_000_000,
        connection=1,
        client_address="127.0.0.1:1",
        client_id="a",
        broker=2,
        key=12,
        version=0,
        correlation_id=1,
        request_size=10,
        latency_ms=2.5,
        rules=("cut",),
        response_body=b"\x00\x1b",
    )
    kept = recorded(heartbeat)
    assert (kept.api, kept.broker, kept.error) == ("Heartbeat", 2, "REBALANCE_IN_PROGRESS")
    assert (kept.left, kept.rules, kept.ruled) == (7_500_000, ("cut",), True)
    heartbeat.note = ANSWERED
    assert not recorded(heartbeat).ruled
    heartbeat.note, heartbeat.key = "", SASL_TOKEN
    assert not recorded(heartbeat).ruled
