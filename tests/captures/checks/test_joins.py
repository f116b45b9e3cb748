"""Test for rebalances that take long, and the member that delays them."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks import test_generations as reasons
from tests.captures.checks.given import S, by_end, descriptions, evidence_packets, findings_of
from tests.captures.checks.groups import heartbeat, join, leave, sync

SLOW = (join(1 * S, "b"), join(0, "a", took=1 * S + 1), sync(1 * S + 5, "a"))
SEVEN = (join(7 * S, "b"), join(0, "a", took=7 * S + 1))
EXPIRED = "consumer poll timeout has expired."

CASES = {
    "at once": (0, [join(0, took=3 * S), sync(3 * S + 1)]),
    "not too long": (0, SLOW),
    "once": (1, [*SEVEN, sync(8 * S, "a"), sync(8 * S, "b"), sync(9 * S, "a")]),
    "another generation": (0, [join(0, "a"), join(60 * S, "b", 2), sync(60 * S + 5, "b", 2)]),
    # MEMBER_ID_REQUIRED
    "an error is no join": (0, [join(0, "a", -1, error=79), join(60 * S, "a"), sync(60 * S + 5, "a")]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("joins", *exchanges)) == findings


def test_the_longest_can_be_set() -> None:
    assert len(findings_of("joins", *SLOW, longest_ms=900.0)) == 1


def test_the_member_that_came_last() -> None:
    findings = findings_of(
        "joins",
        join(8 * S, "slow", leader="slow", members=("a", "slow"), connection=2, client="worker"),
        join(1 * S, "a", leader="slow", took=7 * S + 1),
        sync(8 * S + 2, "slow", assigns=("a", "slow")),
        sync(8 * S + 2, "a"),
    )
    what = (
        "group g: the rebalance to generation 1 took 7 s; member slow (worker) joined last, "
        "7 s after the first JoinGroup"
    )
    assert descriptions(findings) == [("warning", what)]
    assert evidence_packets(findings) == [[(10001, 10002), (80001, 80002)]]


ALONE = (join(9 * S, "a", 2, leader="a", members=("a",), took=8 * S), sync(20 * S, "a", 2))
TEXTS = {
    "a member that never came": (
        [join(0, "a", leader="a", members=("a", "dead")), sync(2, "a"), *ALONE],
        "2 took 8 s; it waited for dead, which did not rejoin",
    ),
    "who left is not waited for": (
        [*(join(0, "a", leader="a", members=("a", "gone")), sync(2, "a")), *(leave(1 * S, "gone"), *ALONE)],
        "2 took 8 s; all captured members had joined long before",
    ),
    # a member that polled too late comes back, and the other one learns of it with its heartbeat
    "who hears of it late is not to blame": (
        [
            *reasons.PAIR,
            reasons.leaves(1 * S, "b", reason=EXPIRED),
            reasons.join(2 * S, "a", 2, members=("a",)),
            sync(2 * S + 5, "a", 2),
            reasons.join(6 * S, "b-2", 3, new=True, client="b", connection=2, took=3 * S),
            heartbeat(8 * S + 900, "a", 2, error=27),
            reasons.join(8 * S + 990, "a", 3, members=("a", "b-2"), took=12),
            sync(9 * S + 10, "a", 3),
        ],
        f"3 took 3 s; it began because b came back (before, b left: {EXPIRED}); member a (a) learned of it "
        "2.9 s later, with its heartbeat",
    ),
    "told and late": (
        [
            *reasons.PAIR,
            reasons.join(1 * S, "c", 2, new=True, took=9 * S),
            heartbeat(2 * S, "a", 1, error=27),
            heartbeat(3 * S, "b", 1, error=27),
            reasons.join(2 * S + 1, "a", 2, members=("a", "b", "c"), took=8 * S),
            reasons.join(10 * S, "b", 2, took=1),
            sync(10 * S + 5, "a", 2),
        ],
        "2 took 9 s; member b (b) joined last, 7 s after it was told to",
    ),
    "a member of which nothing is known": (
        [*reasons.TRIO, *reasons.MISSED], "2 took 5 s; no JoinGroup of b was captured",
    ),
    # what a member was told of the generation before does not count
    "told of the one before": (
        [
            *(*reasons.TRIO, *reasons.MISSED),
            *(reasons.join(7 * S, one, 3, took=5 * S) for one in "ac"),
            *(reasons.join(12 * S, "b", 3), sync(12.1 * S, "a", 3)),
        ],
        "3 took 5 s; member b (b) joined last, 5 s after the first JoinGroup",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "what"), TEXTS.values(), ids=TEXTS)
def test_what_is_said(exchanges: list[Exchange], what: str) -> None:
    *_, finding = findings_of("joins", *by_end(*exchanges), longest_ms=2000.0)
    assert finding.what.startswith(f"group g: the rebalance to generation {what}")
    assert "poll more often" not in finding.advice or "learned" not in what
