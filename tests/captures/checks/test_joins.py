"""Rebalances that take long, and because of which member."""

from __future__ import annotations

from tests.captures.checks import test_generations as reasons
from tests.captures.checks.given import found, frames, whats
from tests.captures.checks.groups import beat, join, leave, sync

S = 1000.0


def test_a_generation_that_comes_together_at_once() -> None:
    assert found("joins", join(0, took=3 * S), sync(3 * S + 1)) == []


def test_the_member_that_came_last() -> None:
    findings = found(
        "joins",
        join(8 * S, "slow", leader="slow", members=("a", "slow"), connection=2, client="worker"),
        join(1 * S, "a", leader="slow", took=7 * S + 1),
        sync(8 * S + 2, "slow", assigns=("a", "slow")),
        sync(8 * S + 2, "a"),
    )
    assert whats(findings) == [
        (
            "warning",
            "group g: the rebalance to generation 1 took 7 s; member slow (worker) joined last, "
            "7 s after the first JoinGroup",
        )
    ]
    assert frames(findings) == [[(10001, 10002), (80001, 80002)]]


def test_the_longest_can_be_set() -> None:
    slow = (join(1 * S, "b"), join(0, "a", took=1 * S + 1), sync(1 * S + 5, "a"))
    assert found("joins", *slow) == []
    assert len(found("joins", *slow, longest_ms=900.0)) == 1


def test_a_member_that_never_came() -> None:
    first = (join(0, "a", leader="a", members=("a", "dead")), sync(2, "a"))
    second = (join(9 * S, "a", 2, leader="a", members=("a",), took=8 * S), sync(20 * S, "a", 2))
    (finding,) = found("joins", *first, *second)
    assert finding.what == (
        "group g: the rebalance to generation 2 took 8 s; it waited for dead, which did not rejoin"
    )


def test_who_left_is_not_waited_for() -> None:
    first = (join(0, "a", leader="a", members=("a", "gone")), sync(2, "a"), leave(1 * S, "gone"))
    second = (join(9 * S, "a", 2, leader="a", members=("a",), took=8 * S), sync(20 * S, "a", 2))
    (finding,) = found("joins", *first, *second)
    assert "all captured members had joined long before" in finding.what


def test_each_generation_is_judged_once() -> None:
    one = (join(7 * S, "b"), join(0, "a", took=7 * S + 1))
    assert len(found("joins", *one, sync(8 * S, "a"), sync(8 * S, "b"), sync(9 * S, "a"))) == 1


def test_members_of_another_generation_are_not_mixed_in() -> None:
    early = join(0, "a", 1)
    assert found("joins", early, join(60 * S, "b", 2), sync(60 * S + 5, "b", 2)) == []


def test_errors_are_no_joins() -> None:
    asked = join(0, "a", -1, error=79)  # MEMBER_ID_REQUIRED
    assert found("joins", asked, join(60 * S, "a"), sync(60 * S + 5, "a")) == []


def test_who_hears_of_it_late_is_not_to_blame() -> None:
    """A member that polled too late comes back, and the other one learns of it with its heartbeat."""
    expired = "consumer poll timeout has expired."
    exchanges = (
        *reasons.PAIR,
        reasons.leaves(1 * S, "b", reason=expired),
        reasons.join(2 * S, "a", 2, members=("a",)),
        sync(2 * S + 5, "a", 2),
        reasons.join(6 * S, "b-2", 3, new=True, client="b", connection=2, took=3 * S),
        beat(8 * S + 900, "a", 2, error=27),
        reasons.join(8 * S + 990, "a", 3, members=("a", "b-2"), took=12),
        sync(9 * S + 10, "a", 3),
    )
    ended = sorted(exchanges, key=lambda one: one.ts + (one.latency_ms or 0) * 1e6)
    (finding,) = found("joins", *ended, longest_ms=500.0)
    assert finding.what == (
        "group g: the rebalance to generation 3 took 3 s; it began because b came back (before, "
        f"b left: {expired}); member a (a) learned of it 2.9 s later, with its heartbeat"
    )
    assert "poll more often" not in finding.advice


def test_who_was_told_and_came_late() -> None:
    exchanges = (
        *reasons.PAIR,
        reasons.join(1 * S, "c", 2, new=True, took=9 * S),
        beat(2 * S, "a", 1, error=27),
        beat(3 * S, "b", 1, error=27),
        reasons.join(2 * S + 1, "a", 2, members=("a", "b", "c"), took=8 * S),
        reasons.join(10 * S, "b", 2, took=1),
        sync(10 * S + 5, "a", 2),
    )
    ended = sorted(exchanges, key=lambda one: one.ts + (one.latency_ms or 0) * 1e6)
    (finding,) = found("joins", *ended)
    assert "; member b (b) joined last, 7 s after it was told to" in finding.what


def test_a_member_of_which_nothing_is_known() -> None:
    ended = sorted(
        (*reasons.TRIO, *reasons.MISSED), key=lambda one: one.ts + (one.latency_ms or 0) * 1e6
    )
    (finding,) = found("joins", *ended, longest_ms=4000.0)
    assert finding.what == (
        "group g: the rebalance to generation 2 took 5 s; no JoinGroup of b was captured"
    )


def test_what_a_member_was_told_of_the_generation_before_does_not_count() -> None:
    early = (reasons.join(7 * S, one, 3, took=5 * S) for one in "ac")
    slow = (reasons.join(12 * S, "b", 3), sync(12.1 * S, "a", 3))
    exchanges = (*reasons.TRIO, *reasons.MISSED, *early, *slow)
    ended = sorted(exchanges, key=lambda one: one.ts + (one.latency_ms or 0) * 1e6)
    *_, finding = found("joins", *ended, longest_ms=4000.0)
    assert finding.what.endswith("member b (b) joined last, 5 s after the first JoinGroup")
