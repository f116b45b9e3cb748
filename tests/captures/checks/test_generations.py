"""Generations of classic groups: why each began, and for whom it waited."""

from __future__ import annotations

from typing import Any

from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.rebalance import Generation
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange
from tests.captures.checks.groups import beat, leave, sync

S = 1000.0
UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED = 25, 27, 79


def join(
    at: float,
    member: str,
    generation: int,
    *,
    members: tuple[str, ...] = (),
    new: bool = False,
    reason: str | None = None,
    error: int = 0,
    instance: str | None = None,
    **more: Any,
) -> Exchange:
    """A JoinGroup of v9; `members` is what a leader is told, and its client is called as it is."""
    asked = {
        "group_id": "g",
        "session_timeout_ms": 45_000,
        "rebalance_timeout_ms": 6000,
        "member_id": "" if new else member,
        "group_instance_id": instance,
        "protocol_type": "consumer",
        "protocols": [],
        "reason": reason,
    }
    told = [{"member_id": one, "group_instance_id": None, "metadata": b""} for one in members]
    answer = {
        "throttle_time_ms": 0,
        "error_code": error,
        "generation_id": generation,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "leader": "a",
        "skip_assignment": False,
        "member_id": member,
        "members": told,
    }
    return exchange("JoinGroup", 9, asked, answer, at=at, **{"client": member, **more})


def leaves(at: float, *members: str, reason: str | None = None, error: int = 0) -> Exchange:
    """A LeaveGroup of v5."""
    asked = [{"member_id": one, "group_instance_id": None, "reason": reason} for one in members]
    answers = [
        {"member_id": one, "group_instance_id": None, "error_code": error} for one in members
    ]
    answer = {"throttle_time_ms": 0, "error_code": 0, "members": answers}
    return exchange("LeaveGroup", 5, {"group_id": "g", "members": asked}, answer, at=at)


def learnt(*exchanges: Exchange) -> list[Generation]:
    """Generations that are over, by the order in which exchanges ended."""
    generations = Generations()
    found: list[Generation] = []
    for one in sorted(exchanges, key=lambda one: one.ts + (one.latency_ms or 0) * 1e6):
        for shown in generations.learn(one):
            if isinstance(shown, Generation) and shown.over:
                found.append(shown)
    return [*found, *generations.finish()]


def whys(*exchanges: Exchange) -> list[list[str]]:
    return [[*map(str, one.causes)] for one in learnt(*exchanges)]


def waited(*exchanges: Exchange) -> list[str]:
    return ["" if one.waited is None else str(one.waited) for one in learnt(*exchanges)]


PAIR = (
    join(0, "a", 1, members=("a", "b"), new=True, took=10),
    join(2, "b", 1, new=True, took=10, connection=2),
    sync(20, "a", 1),
    sync(20, "b", 1, connection=2),
)
"""Two newcomers."""


def test_a_generation_that_members_begin_by_joining() -> None:
    (one,) = learnt(*PAIR)
    assert one.row() == {
        "group": "g",
        "generation": 1,
        "type": "classic",
        "protocol": "range",
        "ts": "1970-01-01T00:00:00.000000Z",
        "members": 2,
        "why": "a joined; b joined",
        "join_ms": 12.0,
        "waited_for": "",
        "leader": "a",
        "assignment_ms": 9.0,
    }


def test_a_member_that_leaves_says_why() -> None:
    left = leaves(1 * S, "b", reason="consumer poll timeout has expired.")
    alone = join(3 * S, "a", 2, members=("a",))
    assert whys(*PAIR, left, alone) == [
        ["a joined", "b joined"],
        ["b left: consumer poll timeout has expired."],
    ]
    assert whys(*PAIR, leave(1 * S, "b"), alone)[1] == ["b left"]


def test_what_nobody_answered_with_another_generation_is_the_last_row() -> None:
    *_, last = learnt(*PAIR, leaves(1 * S, "a", "b"))
    assert (last.number, [*map(str, last.causes)]) == (2, ["a left", "b left"])
    assert (last.row()["members"], last.row()["join_ms"]) == (0, 0)


def test_a_newcomer_by_two_requests_has_the_reason_of_the_first() -> None:
    """KIP-394: it is given an id, and the reason of the second request is that."""
    asked = join(100, "c", -1, new=True, error=MEMBER_ID_REQUIRED, reason="enforced by user")
    again = join(110, "c", 2, reason="need to re-join with the given member-id: c")
    assert whys(*PAIR, asked, again)[1] == ["c joined: enforced by user"]


def test_a_member_that_joins_again_of_itself() -> None:
    again = join(100, "a", 2, members=("a", "b"), reason="cached metadata has changed")
    told = beat(110, "b", 1, error=REBALANCE_IN_PROGRESS)
    b = join(120, "b", 2, reason="group is already rebalancing")
    assert whys(*PAIR, again, told, b)[1] == ["a rejoined: cached metadata has changed"]


def test_who_does_not_come_was_told_or_is_dead() -> None:
    alone = join(100, "a", 2, members=("a",), took=6 * S)
    told = beat(200, "b", 1, error=REBALANCE_IN_PROGRESS)
    assert whys(*PAIR, alone, told)[1] == ["a rejoined", "b did not rejoin in time"]
    assert waited(*PAIR, alone, told)[1] == "b, which did not rejoin"
    assert whys(*PAIR, alone)[1] == ["a rejoined", "b was removed"]
    late = leaves(7 * S, "b", reason="consumer poll timeout has expired.", error=UNKNOWN_MEMBER_ID)
    assert whys(*PAIR, alone, told, late)[1] == [
        "a rejoined",
        "b did not rejoin in time: consumer poll timeout has expired.",
    ]


def test_a_member_that_is_told_that_it_is_none() -> None:
    removed = beat(60 * S, "b", 1, error=UNKNOWN_MEMBER_ID)
    assert whys(*PAIR, removed)[1] == ["b was removed"]


def test_a_member_is_late_since_it_was_told() -> None:
    newcomer = join(100, "c", 2, new=True, took=9 * S)
    told = beat(1 * S, "b", 1, error=REBALANCE_IN_PROGRESS)
    early = (beat(1 * S, "a", 1, error=REBALANCE_IN_PROGRESS), join(1010, "a", 2, took=8 * S))
    slow = join(9 * S, "b", 2, took=100)
    assert waited(*PAIR, newcomer, told, *early, slow)[1] == "b, 8 s"


def test_a_member_that_hears_of_it_late_is_not_late() -> None:
    newcomer = join(100, "c", 2, new=True, took=3 * S)
    told = beat(3 * S, "a", 1, error=REBALANCE_IN_PROGRESS)
    a = join(3 * S + 5, "a", 2, members=("a", "c"))
    (_, one) = learnt(*PAIR, leave(50, "b"), newcomer, told, a)
    assert one.waited is not None
    assert (one.waited.kind, one.waited.names) == ("untold", ("a",))
    assert [*map(str, one.causes)] == ["b left", "c joined"]


TRIO = (
    *(join(n, one, 1, members=("a", "b", "c"), new=True, took=10) for n, one in enumerate("abc")),
    *(sync(20, one, 1) for one in "abc"),
)
"""As librdkafka's mock cluster has them: who does not rejoin stays a member, of an old generation."""

MISSED = (
    join(1 * S, "c", 2, took=5 * S),
    beat(1.4 * S, "a", 1, error=REBALANCE_IN_PROGRESS),
    beat(1.5 * S, "b", 1, error=REBALANCE_IN_PROGRESS),
    join(4 * S, "a", 2, members=("a", "b", "c"), took=2 * S),
    sync(6.1 * S, "a", 2),
)
"""b hears of generation 2 while it works, and polls when that has come together without it."""

FENCED = (
    beat(7 * S, "b", 1, error=22),
    join(7.1 * S, "b", 3, took=5 * S),
    *(beat(7.2 * S, one, 2, error=REBALANCE_IN_PROGRESS) for one in "ac"),
    join(7.3 * S, "a", 3, members=("a", "b", "c"), took=4.8 * S),
    join(9.3 * S, "c", 3, took=2.8 * S),
    sync(12.2 * S, "a", 3),
)
"""So it is the first to join the next one."""


def test_a_generation_waits_for_who_misses_it_and_the_next_one_does_not() -> None:
    assert waited(*TRIO, *MISSED, *FENCED) == ["", "b, which did not rejoin", ""]
    assert [one.missed for one in learnt(*TRIO, *MISSED, *FENCED)] == [{}, {"b": "b"}, {}]
    assert whys(*TRIO, *MISSED, *FENCED)[1:] == [["c rejoined"], ["b rejoined"]]


def test_nobody_waits_for_a_member_before_the_first_one_has_come() -> None:
    left = leaves(1 * S, "c")
    told = (beat(1.1 * S, one, 1, error=REBALANCE_IN_PROGRESS) for one in "ab")
    b = join(5 * S, "b", 2, took=3.1 * S)
    assert waited(*TRIO, left, *told, b, join(8 * S, "a", 2, members=("a", "b"), took=100))[1] == (
        "a, 3 s"
    )


def test_who_comes_last_is_late_also_if_another_one_never_came() -> None:
    """It was what ended the wait: the other one had been given up before."""
    told = (beat(1.1 * S, one, 1, error=REBALANCE_IN_PROGRESS) for one in "ac")
    b = join(1 * S, "b", 2, took=5 * S)
    assert waited(*TRIO, *told, b, join(5.95 * S, "a", 2, members=("a", "b"), took=50))[1] == (
        "a, 4.85 s"
    )


def test_who_was_not_seen_to_join_may_have_joined_unseen() -> None:
    """Only the leader's list, or its own answers, say that a member did not."""
    assert waited(*TRIO, *MISSED) == ["", "a, 2.6 s"]
    fenced, *_ = FENCED
    late = join(5 * S, "b", 2, took=4 * S)  # its answer was under way for long
    assert [one.missed for one in learnt(*TRIO, *MISSED, fenced, late)] == [{}, {}]


def test_who_was_told_of_a_generation_that_it_missed_is_told_again_of_the_next() -> None:
    told = beat(7.2 * S, "b", 1, error=REBALANCE_IN_PROGRESS)
    early = (join(7.1 * S, "c", 3, took=5 * S), join(7.1 * S, "a", 3, took=5 * S))
    slow = (join(12 * S, "b", 3, took=100), sync(12.2 * S, "a", 3))
    assert waited(*TRIO, *MISSED, told, *early, *slow)[2] == "b, 4.8 s"


def test_a_generation_begins_with_the_first_request_however_late_its_answer_is() -> None:
    newcomer = join(1 * S, "c", 2, new=True, took=5 * S)
    others = (join(3 * S, one, 2, members=("a", "b", "c"), took=2 * S) for one in "ab")
    _, one = learnt(*PAIR, newcomer, *others)
    assert one.began == 1 * S * 1e6


def test_who_comes_back_had_gone() -> None:
    gone = leaves(1 * S, "b", reason="consumer poll timeout has expired.")
    alone = join(2 * S, "a", 2, members=("a",))
    anew = join(8 * S, "b-2", 3, new=True, client="b", connection=2)
    causes = [one.causes for one in learnt(*PAIR, gone, alone, anew)]
    assert [*map(str, causes[2])] == ["b came back"]
    assert causes[2][0].in_full == (
        "b came back (before, b left: consumer poll timeout has expired.)"
    )


def test_members_with_one_client_id_are_told_apart() -> None:
    both = (
        join(0, "x-11111111-2222", 1, new=True, client="app", took=10),
        join(1, "y-33333333-4444", 1, new=True, client="app", took=10),
    )
    assert whys(*both) == [["app joined", "app (y-333333) joined"]]


def test_a_static_member_has_its_place_back_without_a_generation() -> None:
    """KIP-345: nobody else hears of it."""
    back = join(5 * S, "b-2", 1, new=True, instance="b", client="b")
    assert [one.number for one in learnt(*PAIR, back)] == [1]
    assert whys(*PAIR, back) == [["a joined", "b joined"]]


def test_what_a_gap_hides_is_no_cause() -> None:
    behind = join(9 * S, "a", 2, members=("a",), losses=1)
    assert whys(*PAIR, behind) == [["a joined", "b joined"], []]
