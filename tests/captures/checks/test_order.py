"""Records of a partition in another order than they were sent in."""

from __future__ import annotations

from typing import Any

from tests.captures.checks.given import found, frames, produce, whats

NOT_LEADER = 6


def test_in_order() -> None:
    both = (produce(1, ["a"], offset=0, took=9), produce(2, ["b"], offset=1, took=9))
    assert found("order", *both) == []


def test_the_later_request_is_in_front() -> None:
    findings = found(
        "order", produce(1, ["a"], offset=1, took=9), produce(2, ["b"], offset=0, took=9)
    )
    assert whats(findings) == [
        (
            "error",
            "orders[0]: records sent later come first in the log: offset 0 was sent after offset 1",
        )
    ]
    assert frames(findings) == [[(11, 12), (21, 22)]]
    assert "enable.idempotence" in findings[0].advice


def test_not_pipelined_is_another_matter() -> None:
    """Offsets that go back without anything in flight: the topic was made anew."""
    both = (produce(1, ["a"], offset=9, took=1), produce(5, ["b"], offset=0))
    assert found("order", *both) == []


def test_a_retry_behind_what_was_sent_after_it() -> None:
    findings = found(
        "order",
        produce(1, ["a"], error=NOT_LEADER, took=9),
        produce(2, ["b"], offset=0, took=9),
        produce(20, ["a"], offset=1),
    )
    assert whats(findings) == [
        (
            "error",
            "orders[0]: retried records come after records sent later: offset 1 was sent before "
            "offset 0",
        )
    ]
    assert frames(findings) == [[(11, 12), (21, 22), (201, 202)]]


def test_a_lost_response_is_a_reason_too() -> None:
    lost = produce(1, ["a"], error=None, connection=1)
    assert len(found("order", lost, produce(2, ["b"]), produce(20, ["a"], offset=1))) == 1


def test_all_fail_and_are_sent_again_in_order() -> None:
    attempts = [produce(1 + n, [f"{n}"], error=NOT_LEADER, took=9) for n in range(3)]
    again = [produce(20 + n, [f"{n}"], offset=n, took=9) for n in range(3)]
    assert found("order", *attempts, *again) == []


def test_all_are_lost_and_are_sent_again_in_order() -> None:
    attempts = [produce(1 + n, [f"{n}"], error=None) for n in range(3)]
    again = [produce(20 + n, [f"{n}"], offset=n) for n in range(3)]
    assert found("order", *attempts, *again) == []
    elsewhere = [produce(20 + n, [f"{n}"], offset=n, connection=2) for n in range(3)]
    assert found("order", *attempts, *elsewhere) == []


def test_a_retry_with_nothing_in_flight_behind_it() -> None:
    retried = (
        produce(1, ["a"], error=NOT_LEADER, took=1),
        produce(5, ["a"], offset=0),
        produce(9, ["b"], offset=1),
    )
    assert found("order", *retried) == []


def test_other_records_went_in_behind_the_failure() -> None:
    given_up = (
        produce(1, ["a"], error=NOT_LEADER, took=9),
        produce(2, ["b"], offset=0, took=9),
        produce(20, ["c"], offset=1),
    )
    assert found("order", *given_up) == []


def test_other_partitions_topics_and_clients_have_an_order_of_their_own() -> None:
    first = produce(1, ["a"], offset=9, took=9)
    assert found("order", first, produce(2, ["b"], offset=0, took=9, partition=1)) == []
    assert found("order", first, produce(2, ["b"], offset=0, took=9, topic="clicks")) == []
    assert found("order", first, produce(2, ["b"], offset=0, took=9, client="x")) == []


def test_a_broker_that_takes_what_is_behind_a_gap() -> None:
    numbered: dict[str, Any] = {"producer": 1, "epoch": 0, "took": 9}
    both = (
        produce(1, ["a"], offset=1, sequence=0, **numbered),
        produce(2, ["b"], offset=0, sequence=1, **numbered),
    )
    assert len(found("order", *both)) == 1


def test_a_repetition_that_the_broker_knows_is_where_it_was() -> None:
    numbered: dict[str, Any] = {"producer": 1, "epoch": 0, "took": 9}
    again = (
        produce(1, ["a"], error=None, sequence=0, **numbered),
        produce(2, ["b"], error=None, sequence=1, **numbered),
        produce(20, ["a"], offset=0, sequence=0, **numbered),
        produce(21, ["b"], offset=1, sequence=1, **numbered),
    )
    assert found("order", *again) == []


def test_what_asks_for_no_answer_is_not_sent_again() -> None:
    unasked = produce(1, ["a"], acks=0, error=None)
    again = (produce(2, ["b"], offset=0), produce(20, ["a"], offset=1))
    assert found("order", unasked, *again) == []


def test_behind_a_gap_requests_are_numbered_anew() -> None:
    earlier, later = produce(1, ["a"], offset=1, took=9), produce(2, ["b"], offset=0, took=9)
    later.losses = 1
    assert found("order", earlier, later) == []


def test_the_same_records_again_are_no_retry_if_the_first_were_taken() -> None:
    sent = (produce(1, ["a"], offset=0, took=9), produce(2, ["b"], offset=1, took=9))
    assert found("order", *sent, produce(20, ["a"], offset=2)) == []
