from __future__ import annotations

from barnabas.experiments.explore.bench import recovery_ms
from barnabas.experiments.explore.recording import RecordedExchange


def one(
    ts: float,
    latency_ms: float | None = 1.0,
    *,
    rule: bool = False,
    error: str | None = "",
    client: str = "a",
    api: str = "Produce",
) -> RecordedExchange:
    return RecordedExchange(
        ts=round(ts * 1e6),
        client_id=client,
        broker=1,
        api=api,
        latency_ms=latency_ms,
        error=error,
        rules=("cut",) if rule else (),
    )


def test_from_the_request_that_was_cut_to_the_end_of_the_next_that_went_well() -> None:
    exchanges = [
        one(0),
        one(10, None, rule=True, error=None),
        one(11, client="b"),
        one(12, api="Metadata"),
        one(13, None, error=None),
        one(14, error="NOT_LEADER_OR_FOLLOWER"),
        one(20, 2.5),
        one(30),
    ]
    assert recovery_ms(exchanges, "cut", "request") == 12.5
    assert recovery_ms(reversed(exchanges), "cut", "request") == 12.5


def test_a_rule_on_responses_fires_when_the_response_leaves() -> None:
    exchanges = [one(10, 5.0, rule=True), one(12), one(17, 1.0)]
    assert recovery_ms(exchanges, "cut", "response") == 3.0
    assert recovery_ms(exchanges, "cut", "request") == 3.0  # of the next one, it does not matter


def test_no_recovery_and_no_fault() -> None:
    assert recovery_ms([one(1), one(10, None, rule=True, error=None)], "cut", "request") is None
    assert recovery_ms([one(1), one(2)], "cut", "request") is None
