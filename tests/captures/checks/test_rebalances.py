"""Members that poll too late, and those that keep coming back."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks import test_epochs as epochs
from tests.captures.checks.given import found, frames, whats
from tests.captures.checks.groups import beat
from tests.captures.checks.test_generations import REBALANCE_IN_PROGRESS, S, join, leaves

EXPIRED = "consumer poll timeout has expired."


def flapping(
    times: int, *, reason: str | None = None, moves: bool = False, every: float = 10 * S
) -> list[Exchange]:
    """Two members, of which one leaves and comes back so often, `moves`: on a connection of its own."""
    told = [
        join(0, "a", 1, members=("a", "b-0"), new=True, took=10, client="a"),
        join(1, "b-0", 1, new=True, took=8, client="b", connection=2, host="h"),
    ]
    for n in range(times):
        at, generation = every * (n + 1), 2 * n + 2
        where = 3 + n if moves else 2
        left = leaves(at, f"b-{n}", reason=reason)
        left.connection = where - moves
        told += [
            left,
            join(at + 100, "a", generation, members=("a",), client="a"),
            beat(at + 200, "a", generation, client="a"),
            join(
                at + 300,
                f"b-{n + 1}",
                generation + 1,
                new=True,
                client="b",
                connection=where,
                host="h",
            ),
            join(at + 310, "a", generation + 1, members=("a", f"b-{n + 1}"), client="a"),
        ]
    return told


def test_a_member_that_polls_too_late_is_said_once() -> None:
    findings = found("rebalances", *flapping(2, reason=EXPIRED))
    assert whats(findings) == [
        (
            "warning",
            "group g: b left, because it did not poll within its max.poll.interval.ms of 6 s",
        )
    ]
    assert frames(findings) == [[(100001, 100002)]]


def test_a_member_that_does_not_come_when_it_is_told_to() -> None:
    slow = (
        *flapping(0),
        join(5 * S, "c", 2, new=True, members=("c",), took=6 * S),
        beat(6 * S, "b-0", 1, error=REBALANCE_IN_PROGRESS),
    )
    ended = sorted(slow, key=lambda one: one.ts + (one.latency_ms or 0) * 1e6)
    (finding,) = found("rebalances", *ended)
    assert "b was told to rejoin and removed, because it did not poll" in finding.what


def test_one_that_keeps_coming_back() -> None:
    (finding,) = found("rebalances", *flapping(3))
    assert (finding.severity, finding.what) == (
        "warning",
        "group g: b left and came back 3 times in 20.3 s (left); meanwhile the group went "
        "through 5 generations",
    )
    assert "max.poll.interval.ms" in finding.advice
    *_, last = found("rebalances", *flapping(3, reason=EXPIRED))
    assert f"(left: {EXPIRED})" in last.what


def test_it_is_said_again_at_twice_as_many() -> None:
    counts = [finding.what for finding in found("rebalances", *flapping(13))]
    assert [text.partition("came back ")[2].split()[0] for text in counts] == ["3", "6", "12"]


def test_the_times_and_their_window_can_be_set() -> None:
    assert found("rebalances", *flapping(3), times=4) == []
    assert found("rebalances", *flapping(3), within_ms=20_000.0) == []
    assert len(found("rebalances", *flapping(3), within_ms=21_000.0)) == 1


def test_who_closes_and_begins_anew_is_another_process() -> None:
    assert found("rebalances", *flapping(9, moves=True)) == []


@pytest.mark.parametrize("kill", [False, True])
def test_a_rolling_start_is_none(kill: bool) -> None:
    """Each of ten members that have one client id goes once and comes as a new process."""
    names = [f"m{n}" for n in range(10)]
    told = [
        join(
            n,
            name,
            1,
            members=tuple(names) if not n else (),
            new=True,
            client="app",
            host="h",
            took=20 - n,
            connection=n + 1,
        )
        for n, name in enumerate(names)
    ]
    for n in range(10):
        at, generation = 10 * S * (n + 1), n + 2
        if not kill:
            told.append(leaves(at, f"m{n}"))
        rest = [f"m{k}" for k in range(n + 1, n + 11)]
        told += [
            join(
                at + k,
                name,
                generation,
                members=tuple(rest) if not k else (),
                new=name == rest[-1],
                client="app",
                host="h",
                took=20 - k,
                connection=n + 2 + k,
            )
            for k, name in enumerate(rest)
        ]
    assert found("rebalances", *told) == []


def test_members_with_heartbeats_of_their_own() -> None:
    told = [epochs.beat(0, "a", 0, 1)]
    for n in range(4):
        told += [
            epochs.beat(10 * S * (n + 1), "a", -1, -1),
            epochs.beat(10 * S * (n + 1) + 5 * S, "a", 0, 2 * n + 3),
        ]
    (finding,) = found("rebalances", *told)
    assert "a left and came back 3 times in 25 s (left)" in finding.what


def test_what_a_stranger_gives_for_a_reason_is_cut() -> None:
    *_, last = found("rebalances", *flapping(3, reason="x" * 5000))
    assert len(last.what) < 500
