"""Test for members that poll too late, and members that keep returning."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import S, descriptions, evidence_packets, findings_of
from tests.captures.checks.groups import heartbeat
from tests.captures.checks.test_epochs import beats
from tests.captures.checks.test_generations import EXPIRED, join, leaves


def flapping(times: int, *, reason: str | None = None, moves: bool = False) -> list[Exchange]:
    """Two members, of which one leaves and comes back so often, `moves`: on a connection of its own."""
    seen = [
        join(0, "a", 1, members=("a", "b-0"), new=True, took=10),
        join(1, "b-0", 1, new=True, took=8, client="b", connection=2, host="h"),
    ]
    for n in range(times):
        at, number, member = 10 * S * (n + 1), 2 * n + 2, f"b-{n + 1}"
        where = 3 + n if moves else 2
        left = leaves(at, f"b-{n}", reason=reason)
        left.connection = where - moves
        seen += [
            *(left, join(at + 100, "a", number, members=("a",))),
            heartbeat(at + 200, "a", number, client="a"),
            join(at + 300, member, number + 1, new=True, client="b", connection=where, host="h"),
            join(at + 310, "a", number + 1, members=("a", member)),
        ]
    return seen


def rolling(kill: bool) -> list[Exchange]:
    """Each of ten members that have one client id goes once and comes as a new process."""

    def generation(at: float, number: int, new: range) -> list[Exchange]:
        names = [f"m{n}" for n in range(number - 1, number + 9)]
        app = {"client": "app", "host": "h"}
        return [
            join(
                at + n, name, number, members=() if n else tuple(names), new=n in new,
                took=20 - n, connection=number + n, **app
            )
            for n, name in enumerate(names)
        ]  # fmt: skip

    seen = generation(0, 1, range(10))
    for n in range(10):
        at = 10 * S * (n + 1)
        seen += [] if kill else [leaves(at, f"m{n}")]
        seen += generation(at, n + 2, range(9, 10))
    return seen


def test_a_member_that_polls_too_late_is_said_once() -> None:
    findings = findings_of("rebalances", *flapping(2, reason=EXPIRED))
    what = "group g: b left, because it did not poll within its max.poll.interval.ms of 6 s"
    assert descriptions(findings) == [("warning", what)]
    assert evidence_packets(findings) == [[(100001, 100002)]]
    unseen = join(0, "a", 1, members=("a", "b-0")), leaves(10 * S, "b-0", reason=EXPIRED)
    assert descriptions(findings_of("rebalances", *unseen))[0][1].endswith(
        "within its max.poll.interval.ms"
    )


def test_one_that_keeps_coming_back() -> None:
    (finding,) = findings_of("rebalances", *flapping(3))
    assert (finding.severity, finding.what) == (
        "warning",
        "group g: b left and came back 3 times in 20.3 s (left); meanwhile the group went "
        "through 5 generations",
    )
    assert finding.advice.startswith("Look for why it leaves")
    *_, last = findings_of("rebalances", *flapping(3, reason=EXPIRED))
    assert f"(left: {EXPIRED})" in last.what
    assert last.advice.startswith("Poll more often")
    *_, moved = findings_of("rebalances", *flapping(3, reason=EXPIRED, moves=True))
    assert f"b left and came back 3 times in 20.3 s (left: {EXPIRED})" in moved.what


def test_it_is_said_again_at_twice_as_many() -> None:
    counts = [finding.what for finding in findings_of("rebalances", *flapping(13))]
    assert [text.partition("came back ")[2].split()[0] for text in counts] == ["3", "6", "12"]


def test_the_times_and_their_window_can_be_set() -> None:
    assert findings_of("rebalances", *flapping(3), times=4) == []
    assert findings_of("rebalances", *flapping(3), within_ms=20_000.0) == []
    assert len(findings_of("rebalances", *flapping(3), within_ms=21_000.0)) == 1


OTHERS = {
    "closes and begins anew": flapping(9, moves=True),
    "a rolling restart": rolling(kill=False),
    "a rolling restart by kills": rolling(kill=True),
}


@pytest.mark.parametrize("exchanges", OTHERS.values(), ids=OTHERS)
def test_who_is_another_process(exchanges: list[Exchange]) -> None:
    assert findings_of("rebalances", *exchanges) == []


def test_members_with_heartbeats_of_their_own() -> None:
    seen = [beats(0, "a", 0, 1)]
    for n in range(1, 5):
        seen += [beats(10 * S * n, "a", -1, -1), beats(10 * S * n + 5 * S, "a", 0, 2 * n + 1)]
    (finding,) = findings_of("rebalances", *seen)
    assert finding.what == (
        "group g: a left and came back 3 times in 25 s (left); meanwhile the group went through 3 generations"
    )


def test_what_a_stranger_gives_for_a_reason_is_cut() -> None:
    *_, last = findings_of("rebalances", *flapping(3, reason="x" * 5000))
    assert len(last.what) < 500
