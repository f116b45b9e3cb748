"""What counts as the same request again after a failure, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.testing.batches import Unreadable
from barnabas.testing.exchange import Exchange
from barnabas.testing.retries import retries
from tests.barnabas.testing.made import batch, exchange, produce, records

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


REFUSED = produce(1, (0, batch(value=b"a")), errors={0: 6}, error="NOT_LEADER_OR_FOLLOWER")
LOST_BATCH = produce(1, (0, batch(7, 0, 5)), offsets={0: 0}, latency_ms=None)
GOOD, BAD, MORE = (0, batch(7, 0, 0)), (1, batch(7, 0, 0)), (2, batch(7, 0, 0))
HALF = produce(1, GOOD, BAD, offsets={0: 0}, errors={1: 6}, error="NOT_LEADER_OR_FOLLOWER")
TOO_NEW = exchange("ApiVersions", 1, error="UNSUPPORTED_VERSION")
FIRST = exchange("FindCoordinator", 1, **NOT_YET)
OLD, NEW = (0, batch(7, 0, 0)), (1, batch(7, 0, 9))
UNREAD = exchange("FindCoordinator", 1, **FIND, error=None, response=None)


@pytest.mark.parametrize(
    ("exchanges", "retried"),
    [
        ([FIRST, exchange("FindCoordinator", 2, request={"key": "h"})], []),
        ([FIRST, exchange("DescribeGroups", 2, **FIND)], []),
        ([FIRST, exchange("FindCoordinator", 2, **FIND, client_id="other")], []),
        ([exchange("Metadata", number) for number in range(5)], []),
        (
            [UNREAD, exchange("FindCoordinator", 2, **FIND)],
            [(2, 1, "a response that can't be read")],
        ),
        ([TOO_NEW, exchange("ApiVersions", 2, connection=2)], []),
        *(
            ([exchange(name, 1, error="X"), exchange(name, 2, connection=2)], [])
            for name in ("SaslHandshake", "SaslAuthenticate")
        ),
        ([TOO_NEW, exchange("ApiVersions", 2)], [(2, 1, "UNSUPPORTED_VERSION")]),
        (
            [LOST_BATCH, produce(2, (0, batch(7, 0, 5)), offsets={0: 0})],
            [(2, 1, "no response")],
        ),
        ([LOST_BATCH, produce(2, (0, batch(7, 0, 6)), offsets={0: 0})], []),
        ([LOST_BATCH, produce(2, (0, batch(7, 1, 5)), offsets={0: 0})], []),
        ([LOST_BATCH, produce(2, (0, batch(8, 0, 5)), offsets={0: 0})], []),
        ([LOST_BATCH, produce(2, (1, batch(7, 0, 5)), offsets={1: 0})], []),
        (
            [REFUSED, produce(2, (0, batch(value=b"a")), offsets={0: 0})],
            [(2, 1, "NOT_LEADER_OR_FOLLOWER")],
        ),
        ([REFUSED, produce(2, (0, batch(value=b"b")), offsets={0: 0})], []),
        ([HALF, produce(2, GOOD, offsets={0: 0})], []),
        (
            [HALF, produce(2, BAD, MORE, offsets={1: 0, 2: 0})],
            [(2, 1, "NOT_LEADER_OR_FOLLOWER")],
        ),
        (
            [
                *(produce(number, OLD, **LOST) for number in (1, 2)),
                produce(3, OLD, NEW, **LOST),
                produce(4, NEW, offsets={1: 0}),
            ],
            [(2, 1, "no response"), (3, 2, "no response"), (4, 1, "no response")],
        ),
        ([produce(number, (0, batch(value=b"a")), acks=0, **LOST) for number in (1, 2)], []),
        (
            [exchange("FindCoordinator", number, **NOT_YET) for number in range(4)],
            [(number, number, "COORDINATOR_NOT_AVAILABLE") for number in (1, 2, 3)],
        ),
    ],
    ids=[
        *("another body", "another API", "another client", "answered well"),
        *("no success", "another connection's first", "handshake", "authenticate"),
        "the same connection's",
        *("by its sequence", "another sequence", "another epoch", "another producer"),
        *("another partition", "by its bytes", "other bytes", "of several what went well"),
        *("of several what failed", "as its most tried batch", "acks=0", "once for each time"),
    ],
)
def test_what_is_a_retry(exchanges: list[Exchange], retried: list[tuple[int, int, str]]) -> None:
    assert found(*exchanges) == retried


MOVED: dict[str, Any] = {"errors": {0: 6}, "error": "NOT_LEADER_OR_FOLLOWER"}
AGAIN: dict[str, Any] = {"offsets": {0: 0}}
FIRST_TRY = produce(1, (0, records("a", stamp=1)), **MOVED)
UNHEARD = produce(1, (0, records("a", stamp=1)), offsets={0: 0}, latency_ms=None)
BOTH = produce(1, (0, records("a", "b")), **MOVED)
TWO = [
    produce(number, (0, records("tea", stamp=number)), **{**AGAIN, "latency_ms": None})
    for number in (1, 2)
]


@pytest.mark.parametrize(
    ("exchanges", "retried"),
    [
        ([FIRST_TRY, produce(2, (0, records("a", stamp=2)), **AGAIN)], [2]),
        ([FIRST_TRY, produce(2, (0, records("b", stamp=1)), **AGAIN)], []),
        ([FIRST_TRY, produce(2, (1, records("a", stamp=2)), offsets={1: 0})], []),
        (
            [
                produce(1, (0, records("a", keyed=False)), **MOVED),
                produce(2, (1, records("a", stamp=2, keyed=False)), offsets={1: 0}),
            ],
            [2],
        ),
        ([BOTH, produce(2, (0, records("b", "c", stamp=2)), **AGAIN)], [2]),
        (
            [
                BOTH,
                *(
                    produce(n, (0, records(text, stamp=n)), **AGAIN)
                    for n, text in ((2, "a"), (3, "b"))
                ),
            ],
            [2, 3],
        ),
        ([FIRST_TRY, *(produce(n, (0, records("a", stamp=n)), **AGAIN) for n in (2, 3))], [2]),
        ([UNHEARD, produce(2, (0, records("a", stamp=2)), connection=2, **AGAIN)], [2]),
        ([UNHEARD, produce(2, (0, records("a", stamp=2)), **AGAIN)], []),
        ([UNHEARD, produce(31, (0, records("a", stamp=2)), **AGAIN)], [31]),
        (TWO, []),
        (
            [
                *TWO,
                *(
                    produce(n, (0, records("tea", stamp=n)), connection=2, **AGAIN)
                    for n in (3, 4, 5)
                ),
            ],
            [3, 4],
        ),
        (
            [
                produce(1, (0, records("a", stamp=1)), **{**MOVED, "latency_ms": 1500.0}),
                produce(2, (0, records("a", stamp=2)), **AGAIN),
            ],
            [],
        ),
        (
            [
                produce(1, (0, records("a", producer=7, epoch=0)), **MOVED),
                produce(2, (0, records("a", producer=7, epoch=1)), **AGAIN),
            ],
            [2],
        ),
    ],
    ids=[
        *("a new timestamp", "other contents", "another partition of a keyed record"),
        *("another partition of a record without a key", "another batch", "batches of one each"),
        *("once after one failure", "on another connection", "in flight on the same connection"),
        *("the same connection after the timeout", "equal records in flight together"),
        *("as often as it failed", "sent before the error came", "a new epoch"),
    ],
)
def test_records_are_recognised_by_their_contents_and_the_history_of_connections(
    exchanges: list[Exchange], retried: list[int]
) -> None:
    assert [number for number, _, _ in found(*exchanges)] == retried


def test_what_is_not_in_the_log_is_not_guessed_at() -> None:
    with pytest.raises(Unreadable, match="is not in the log: 00:00:01"):
        retries([exchange("Fetch", 1, request=None)])
    with pytest.raises(Unreadable, match="is not in the log"):
        retries([exchange("Produce", 1, request=None)])
    token = exchange("SaslHandshake", 1, key=-1, request=None)
    assert retries([token, token]) == []
