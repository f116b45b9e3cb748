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


def test_what_was_refused_and_sent_again_in_a_pause_comes_before_what_was_sent_behind_it() -> None:
    """The last one is sent between the refusal of the first and its retry, and is refused itself."""
    one, two = produce(1, ["a"], error=NOT_LEADER, took=1), produce(3, ["b"], error=6, took=9)
    again = produce(5, ["a"], offset=0, took=9), produce(20, ["b"], offset=1)
    assert found("order", one, two, *again) == []
    elsewhere = produce(5, ["a"], offset=0, took=9, host="10.0.0.1", connection=2)
    assert found("order", one, two, elsewhere, again[1]) == []


NUMBERED: dict[str, Any] = {"producer": 1, "epoch": 0, "took": 9}


def test_numbers_say_what_the_order_is_however_often_a_batch_is_refused() -> None:
    """A transactional producer of Java: the first batch is refused with CONCURRENT_TRANSACTIONS, what is in
    flight behind it with OUT_OF_ORDER_SEQUENCE_NUMBER; the last is sent before the retry of the first."""
    refused = [produce(1, ["a"], error=51, sequence=0, **NUMBERED | {"took": 2})]
    refused += [produce(2 + n, [f"{n}"], error=45, sequence=n, **NUMBERED) for n in (1, 2)]
    again = [produce(5, ["a"], offset=0, sequence=0, **NUMBERED)]
    again += [produce(20 + n, [f"{n}"], offset=n, sequence=n, **NUMBERED) for n in (1, 2)]
    assert found("order", *refused, *again) == []


def test_numbers_in_another_order_than_in_the_log() -> None:
    lost = produce(1, ["a"], error=NOT_LEADER, sequence=0, **NUMBERED)
    behind = produce(2, ["b"], offset=4, sequence=1, **NUMBERED)
    findings = found("order", lost, behind, produce(20, ["a"], offset=5, sequence=0, **NUMBERED))
    assert whats(findings) == [
        (
            "error",
            "orders[0]: the broker accepted sequence 0 at offset 5, but sequence 1 at offset 4",
        )
    ]
    assert frames(findings) == [[(21, 22), (201, 202)]]
    assert "enable.idempotence" not in findings[0].advice


def test_the_number_0_follows_the_greatest() -> None:
    last = 2**31 - 1
    first = produce(1, ["a"], offset=0, sequence=last, **NUMBERED)
    assert found("order", first, produce(2, ["b"], offset=1, sequence=0, **NUMBERED)) == []
    moved = produce(1, ["a"], offset=1, sequence=last, **NUMBERED)
    assert len(found("order", moved, produce(2, ["b"], offset=0, sequence=0, **NUMBERED))) == 1


def test_numbers_of_another_epoch_or_producer_have_an_order_of_their_own() -> None:
    first = produce(1, ["a"], offset=9, sequence=5, **NUMBERED)
    bumped = produce(2, ["b"], offset=0, sequence=6, **NUMBERED | {"epoch": 1})
    assert found("order", first, bumped) == []
    other = produce(2, ["b"], offset=0, sequence=6, **NUMBERED | {"producer": 2})
    assert found("order", first, other) == []


def test_numbers_that_were_not_in_flight_together_are_another_matter() -> None:
    """The topic was made anew, and its offsets begin at 0."""
    both = (
        produce(1, ["a"], offset=9, sequence=0, **NUMBERED | {"took": 1}),
        produce(5, ["b"], offset=0, sequence=1, **NUMBERED),
    )
    assert found("order", *both) == []


def test_a_repetition_that_was_accepted_before_has_its_first_offset() -> None:
    """Its replicas were too few when it was appended: it failed, and is known when it comes again."""
    failed = produce(1, ["a"], error=20, sequence=0, **NUMBERED)
    behind = produce(12, ["b"], offset=1, sequence=1, **NUMBERED | {"took": 20})
    again = produce(15, ["a"], offset=0, sequence=0, **NUMBERED | {"took": 20})
    assert found("order", failed, behind, again) == []


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
