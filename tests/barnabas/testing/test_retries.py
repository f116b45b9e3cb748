"""What counts as the same request again after a failure, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.testing.batches import Unreadable
from barnabas.testing.exchange import Exchange
from barnabas.testing.retries import Retry, retries
from tests.barnabas.testing.made import batch, exchange, produce

LOST: dict[str, Any] = {"latency_ms": None, "error": None, "response": None}
FIND = {"request": {"key": "g"}}
NOT_YET = {**FIND, "error": "COORDINATOR_NOT_AVAILABLE"}


def found(*exchanges: Exchange) -> list[tuple[int, int, str]]:
    """Of each retry: which exchange, which attempt, why."""
    return [
        (each.exchange.correlation_id, each.attempt, each.reason) for each in retries(exchanges)
    ]


def test_the_same_body_again_after_errors_and_no_response() -> None:
    asked = [
        exchange("FindCoordinator", 1, **NOT_YET),
        exchange("FindCoordinator", 2, **{**FIND, **LOST}),
        exchange("FindCoordinator", 3, **FIND),
        exchange("FindCoordinator", 4, **FIND),
    ]
    assert found(*asked) == [(2, 1, "COORDINATOR_NOT_AVAILABLE"), (3, 2, "no response")]
    first, second = retries(reversed(asked))
    assert (first.before, second.before) == (asked[0], asked[1])
    assert repr(second) == (
        "<retry 2 after no response: 00:00:03.000 maker b1 FindCoordinator v5 1.50 ms>"
    )


def test_another_body_api_or_client_is_another_request() -> None:
    for other in (
        exchange("FindCoordinator", 2, request={"key": "h"}),
        exchange("DescribeGroups", 2, **FIND),
        exchange("FindCoordinator", 2, **FIND, client_id="other"),
    ):
        assert found(exchange("FindCoordinator", 1, **NOT_YET), other) == []


def test_what_was_answered_well_may_be_asked_again() -> None:
    assert found(*(exchange("Metadata", number) for number in range(5))) == []


def test_a_response_that_nobody_can_read_is_no_success() -> None:
    unread = exchange("FindCoordinator", 1, **FIND, error=None, response=None)
    assert found(unread, exchange("FindCoordinator", 2, **FIND)) == [
        (2, 1, "a response that can't be read")
    ]


def test_what_every_connection_begins_with_is_no_retry_on_another_one() -> None:
    too_new = exchange("ApiVersions", 1, error="UNSUPPORTED_VERSION")
    assert found(too_new, exchange("ApiVersions", 2, connection=2)) == []
    assert found(too_new, exchange("ApiVersions", 2)) == [(2, 1, "UNSUPPORTED_VERSION")]


def test_a_batch_again_by_its_sequence() -> None:
    lost = produce(1, (0, batch(7, 0, 5)), offsets={0: 0}, latency_ms=None)
    assert found(lost, produce(2, (0, batch(7, 0, 5)), offsets={0: 0})) == [(2, 1, "no response")]
    for other in (
        (0, batch(7, 0, 6)),
        (0, batch(7, 1, 5)),
        (0, batch(8, 0, 5)),
        (1, batch(7, 0, 5)),
    ):
        assert found(lost, produce(2, other, offsets={other[0]: 0})) == []


def test_a_batch_again_by_its_bytes_if_it_has_no_sequence() -> None:
    refused = produce(1, (0, batch(value=b"a")), errors={0: 6}, error="NOT_LEADER_OR_FOLLOWER")
    again = produce(2, (0, batch(value=b"a")), offsets={0: 0})
    assert found(refused, again) == [(2, 1, "NOT_LEADER_OR_FOLLOWER")]
    assert found(refused, produce(2, (0, batch(value=b"b")), offsets={0: 0})) == []


def test_of_a_request_with_several_batches_only_what_failed_counts() -> None:
    good, bad = (0, batch(7, 0, 0)), (1, batch(7, 0, 0))
    half = produce(1, good, bad, offsets={0: 0}, errors={1: 6}, error="NOT_LEADER_OR_FOLLOWER")
    assert found(half, produce(2, good, offsets={0: 0})) == []
    more = (2, batch(7, 0, 0))
    assert found(half, produce(2, bad, more, offsets={1: 0, 2: 0})) == [
        (2, 1, "NOT_LEADER_OR_FOLLOWER")
    ]


def test_a_request_is_the_retry_that_its_most_tried_batch_is() -> None:
    old, new = (0, batch(7, 0, 0)), (1, batch(7, 0, 9))
    tried = [produce(number, old, **LOST) for number in (1, 2)]
    both = [produce(3, old, new, **LOST), produce(4, new, offsets={1: 0})]
    assert found(*tried, *both) == [
        (2, 1, "no response"),
        (3, 2, "no response"),
        (4, 1, "no response"),
    ]


def test_with_acks_0_nobody_knows_of_a_failure() -> None:
    sent = (0, batch(value=b"a"))
    assert found(produce(1, sent, acks=0, **LOST), produce(2, sent, acks=0, **LOST)) == []


def test_what_is_not_in_the_log_is_not_guessed_at() -> None:
    with pytest.raises(Unreadable, match="is not in the log: 00:00:01"):
        retries([exchange("Fetch", 1, request=None)])
    with pytest.raises(Unreadable, match="is not in the log"):
        retries([exchange("Produce", 1, request=None)])
    token = exchange("SaslHandshake", 1, key=-1, request=None)
    assert retries([token, token]) == []


def test_a_retry_counts_once_for_each_time() -> None:
    times = [exchange("FindCoordinator", number, **NOT_YET) for number in range(5)]
    assert [each.attempt for each in retries(times)] == [1, 2, 3, 4]
    assert all(isinstance(each, Retry) for each in retries(times))
