"""Sequence numbers of idempotent producers: gaps, repetitions, epochs, and the wrap."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.registry import api
from tests.captures.checks.given import exchange, found, frames, produce, whats

OUT_OF_ORDER = 45
DUPLICATE = 46
NOT_LEADER = 6
LAST = 2**31 - 1


def sent(at: float, sequence: int, count: int = 2, *, epoch: int = 0, **more: Any) -> Exchange:
    values = [f"v{at}-{number}" for number in range(count)]
    return produce(at, values, sequence=sequence, producer=9, epoch=epoch, **more)


def begun(at: float, epoch: int = 0, *, losses: int = 0) -> Exchange:
    answer = {"throttle_time_ms": 0, "error_code": 0, "producer_id": 9, "producer_epoch": epoch}
    asked = {"transactional_id": None, "transaction_timeout_ms": 1}
    return exchange("InitProducerId", 1, asked, answer, at=at, losses=losses)


def ended(at: float, epoch: int) -> Exchange:
    asked = {
        "transactional_id": "t",
        "producer_id": 9,
        "producer_epoch": epoch - 1,
        "committed": True,
    }
    answer = {"throttle_time_ms": 0, "error_code": 0, "producer_id": 9, "producer_epoch": epoch}
    return exchange("EndTxn", 5, asked, answer, at=at)


def test_one_behind_the_other() -> None:
    assert found("sequences", begun(0), sent(1, 0), sent(2, 2, 3), sent(3, 5)) == []


def test_a_topic_is_the_same_by_name_and_by_id() -> None:
    orders = uuid.UUID(int=7)
    topic = {
        "name": "orders",
        "topic_id": orders,
        "error_code": 0,
        "is_internal": False,
        "partitions": [],
        "topic_authorized_operations": 0,
    }
    known = {"throttle_time_ms": 0, "brokers": [], "cluster_id": None, "controller_id": 1}
    told = exchange(
        "Metadata",
        12,
        {
            "topics": None,
            "allow_auto_topic_creation": False,
            "include_topic_authorized_operations": False,
        },
        {**known, "topics": [topic]},
        at=0.5,
    )
    by_id = sent(2, 2, version=13, topic=orders)
    assert found("sequences", begun(0), told, sent(1, 0), by_id, sent(3, 4)) == []
    assert (
        len(found("sequences", begun(0), told, sent(1, 0), sent(2, 4, version=13, topic=orders)))
        == 1
    )


def test_a_gap() -> None:
    findings = found("sequences", begun(0), sent(1, 0), sent(2, 5), sent(3, 7))
    assert whats(findings) == [
        (
            "error",
            "orders[0]: producer 9 epoch 0 skipped 3 sequence numbers: 2 was expected, 5 was sent",
        )
    ]
    assert frames(findings) == [[(11, 12), (21, 22)]]


def test_the_first_number_of_a_producer_that_was_seen_to_begin_is_0() -> None:
    assert len(found("sequences", begun(0), sent(1, 4))) == 1
    assert found("sequences", sent(1, 4), sent(2, 6)) == []  # it began before the capture


@pytest.mark.parametrize("last", [LAST, LAST - 1, 0])
def test_the_numbers_wrap(last: int) -> None:
    """A batch that ends with 2^31 - 1, before it, and one that goes over it."""
    base = (last - 1) % 2**31
    following = (last + 1) % 2**31
    assert (
        found("sequences", sent(1, base), sent(2, following), sent(3, (following + 2) % 2**31))
        == []
    )
    assert len(found("sequences", sent(1, base), sent(2, (following + 1) % 2**31))) == 1


def test_partitions_count_for_themselves() -> None:
    assert found("sequences", begun(0), sent(1, 0), sent(2, 0, partition=1)) == []
    assert found("sequences", begun(0), sent(1, 0), sent(2, 0, topic="clicks")) == []


def test_a_new_epoch_begins_at_0() -> None:
    bumped = (begun(0), sent(1, 0), sent(2, 2), sent(3, 0, epoch=1), sent(4, 2, epoch=1))
    assert found("sequences", *bumped) == []
    assert len(found("sequences", *bumped[:3], sent(3, 4, epoch=1))) == 1


def test_each_transaction_of_kip_890_has_an_epoch_of_its_own() -> None:
    transactions = (sent(1, 40, epoch=3), ended(2, 4), sent(3, 0, epoch=4))
    assert found("sequences", *transactions) == []
    other = sent(3, 5, epoch=4, partition=7)  # not seen before, but its epoch was seen to begin
    assert len(found("sequences", *transactions[:2], other)) == 1


def test_an_exchange_of_the_old_epoch_that_ends_late_is_nothing() -> None:
    assert found("sequences", sent(1, 0), sent(3, 0, epoch=1), sent(2, 2, error=None)) == []


def test_what_failed_or_was_not_answered_is_sent_again() -> None:
    for error in (None, NOT_LEADER):
        retry = (begun(0), sent(1, 0, error=error), sent(5, 0), sent(6, 2))
        assert found("sequences", *retry) == []


def test_what_was_behind_a_failure_fails_and_is_sent_again() -> None:
    """Five in flight: the first one fails, the others with it, all come again in order."""
    first = [sent(1, 0, error=NOT_LEADER, took=10)]
    first += [sent(1 + n / 10, 2 * n, error=OUT_OF_ORDER, took=10) for n in range(1, 5)]
    again = [sent(20 + n / 10, 2 * n, took=10) for n in range(5)]
    assert found("sequences", begun(0), *first, *again, sent(40, 10)) == []


def test_numbers_that_a_failed_batch_gave_back_may_be_used_for_others() -> None:
    """Java lowers the numbers behind a batch that failed for good (MESSAGE_TOO_LARGE)."""
    failed = (sent(1, 0, 5, error=10, took=9), sent(2, 5, error=OUT_OF_ORDER, took=9))
    assert found("sequences", begun(0), *failed, sent(20, 0), sent(21, 2)) == []


def test_an_unanswered_attempt_that_is_told_late_is_old_news() -> None:
    """Its connection was closed behind its successful repetition on another one."""
    old = sent(1, 0, error=None)
    assert (
        found("sequences", begun(0), sent(5, 0, connection=2), old, sent(6, 2, connection=2)) == []
    )


def test_sent_again_though_it_knew() -> None:
    findings = found("sequences", begun(0), sent(1, 0), sent(5, 0), sent(6, 2))
    assert whats(findings) == [
        (
            "warning",
            "orders[0]: producer 9 epoch 0 sent sequence 0 again after it had been acknowledged",
        )
    ]
    assert frames(findings) == [[(11, 12), (51, 52)]]


def test_sent_again_elsewhere_by_a_client_that_gave_up_waiting() -> None:
    """The acknowledgement came, but nobody read it: the client had closed that connection."""
    retried = (sent(1, 0, took=2000), sent(3000, 0, connection=2), sent(3002, 2, connection=2))
    assert found("sequences", begun(0), *retried) == []
    late = (sent(3000, 0, connection=2), sent(1, 0, took=3100), sent(3200, 2, connection=2))
    assert found("sequences", begun(0), *late) == []


def test_sent_again_elsewhere_though_the_first_connection_is_used() -> None:
    twice = (begun(0), sent(1, 0), sent(5, 0, connection=2))
    text = "orders[0]: producer 9 epoch 0 sent sequence 0 again after it had been acknowledged"
    for after in (sent(6, 2), sent(6, 2, error=None), exchange("Metadata", 12, None, None, at=6)):
        findings = found("sequences", *twice, after)
        assert whats(findings) == [("warning", text)]
        assert frames(findings) == [[(11, 12), (51, 52)]]
    slow = sent(5, 0, connection=2, took=9)  # what was sent meanwhile has ended before
    assert len(found("sequences", *twice[:2], sent(6, 2), slow)) == 1
    (_,) = found("sequences", *twice, sent(6, 2), sent(7, 4))  # once
    before = (begun(0), sent(1, 0), sent(4, 2), sent(5, 0, connection=2), sent(6, 4, connection=2))
    assert found("sequences", *before) == []


def test_sent_again_before_it_could_know() -> None:
    assert found("sequences", begun(0), sent(1, 0, took=9), sent(5, 0, error=DUPLICATE)) == []


def test_a_duplicate_counts_as_taken() -> None:
    again = (sent(1, 0, error=None), sent(5, 0, error=DUPLICATE), sent(9, 0))
    assert len(found("sequences", begun(0), *again)) == 1


def test_refused_though_the_one_before_was_taken() -> None:
    findings = found("sequences", begun(0), sent(1, 0), sent(2, 2, error=OUT_OF_ORDER))
    assert whats(findings) == [
        (
            "warning",
            "orders[0]: producer 9 epoch 0: sequence 2 was rejected as out of order, though the "
            "one before it was acknowledged",
        )
    ]
    assert frames(findings) == [[(11, 12), (21, 22)]]


def test_refused_on_another_connection_before_the_one_before_was_taken() -> None:
    """Both were lost or refused; the retry of the first is acknowledged before the refusal of the second is
    heard."""
    late = sent(2, 2, error=OUT_OF_ORDER, took=20)
    lost = sent(1, 0, error=None)
    assert found("sequences", begun(0), lost, sent(9, 0, connection=2), late) == []
    again = sent(12, 2, error=OUT_OF_ORDER, took=20)
    assert len(found("sequences", begun(0), lost, sent(9, 0, connection=2), again)) == 1


def test_what_still_waits_may_hold_the_numbers() -> None:
    """A request between them left a proxy behind them: then it is answered behind them."""
    first, late, last = sent(1, 0), sent(2, 2, took=30), sent(3, 4)
    assert found("sequences", begun(0), first, last, late, sent(40, 6)) == []
    assert len(found("sequences", begun(0), first, last, sent(40, 6))) == 1


def test_a_gap_of_the_capture_is_none_of_the_producer() -> None:
    after = (sent(9, 50, losses=1), sent(10, 52, losses=1))
    assert found("sequences", begun(0), sent(1, 0), *after) == []
    assert len(found("sequences", begun(0), sent(1, 0), *after, sent(11, 99, losses=1))) == 1


def test_producers_that_are_not_idempotent_have_no_numbers() -> None:
    assert found("sequences", produce(1, ["a"]), produce(2, ["a"])) == []


def test_a_producer_of_a_past_epoch_is_another_ones_matter() -> None:
    """A zombie: the broker refuses it, and its numbers are not those of the present epoch."""
    zombie = sent(4, 7, epoch=0, error=47)
    present = (sent(1, 0), begun(2, 1), sent(3, 0, epoch=1))
    assert found("sequences", begun(0), *present, zombie, sent(5, 2, epoch=1)) == []


def test_the_first_producer_of_a_cluster_has_the_id_0() -> None:
    first = [
        produce(at, ["v"], sequence=sequence, producer=0, epoch=0)
        for at, sequence in ((1, 0), (2, 5))
    ]
    assert len(found("sequences", *first)) == 1


def test_an_id_that_was_refused_begins_nothing() -> None:
    refused = begun(0)
    refused.response_body = (
        api("InitProducerId")
        .response.codec(1)
        .encode({"throttle_time_ms": 0, "error_code": 51, "producer_id": 9, "producer_epoch": 0})
    )
    assert found("sequences", refused, sent(1, 4)) == []
